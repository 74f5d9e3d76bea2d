import zlib

from kafka_records import SENT_MICROS, as_the_driver_sees, frame, record, structured

from pipeline.admit import AdmitRules, admit
from pipeline.deadletter import dead_letter_headers
from pipeline.dialects.cloudevents import decode
from pipeline.reasons import Reason
from state.version import Version

RULES = AdmitRules(("out",), 1_000, 100)
BAD = record(b"\xffbad", [("h", b"\xff"), ("n", None)], b"\xfe", "in", 3, 41, after_ms=5)


def _seen(spark, *rows):
    return as_the_driver_sees(admit(decode(frame(spark, list(rows))), RULES))


def test_a_refused_record_is_published_as_it_came_with_headers_that_say_why(spark):
    (letter,) = _seen(spark, BAD)
    assert (letter.entry, letter.kind, letter.output_topic) == ("reject", "rejection", "dead")
    assert (bytes(letter.payload), bytes(letter.output_key)) == (b"\xffbad", b"\xfe")
    assert letter.due == letter.source_timestamp == SENT_MICROS + 5_000
    headers = [(h["key"], h["value"] and bytes(h["value"])) for h in letter.headers]
    assert headers == [
        ("h", b"\xff"),
        ("n", None),
        ("duestream-reason", b"invalid_json"),
        ("duestream-detail", letter.detail.encode()),
        ("duestream-topic", b"in"),
        ("duestream-partition", b"3"),
        ("duestream-offset", b"41"),
        ("duestream-timestamp", str(SENT_MICROS // 1000 + 5).encode()),
    ]


def test_a_message_kafka_refused_gets_the_same_headers(spark):
    (letter,) = _seen(spark, BAD)
    version = Version("in", 3, 41, SENT_MICROS + 5_000)
    same = dead_letter_headers(Reason.INVALID_JSON, letter.detail, version)
    assert same == [(h["key"], bytes(h["value"])) for h in letter.headers[2:]]


def test_a_refused_record_has_an_identity_that_no_schedule_has(spark):
    (letter,) = _seen(spark, BAD)
    assert bytes(letter.identity) == b"\0in\x003:41"
    assert letter.hash == zlib.crc32(letter.identity)


def test_a_record_without_key_headers_or_value_can_be_a_dead_letter(spark):
    (letter,) = _seen(spark, record(None, key=None))
    assert (letter.entry, letter.payload, letter.output_key) == ("reject", None, None)
    assert letter.headers[0]["key"] == "duestream-reason"


def test_a_command_that_was_taken_is_no_dead_letter_and_its_record_stays_behind(spark):
    put, cancel = _seen(spark, record(structured({"data": 1})), record(None, offset=1))
    assert (put.entry, put.kind, put.payload, put.reason) == ("put", "message", b"1", None)
    assert (cancel.entry, cancel.payload, cancel.due, cancel.detail) == ("cancel", None, None, None)
