"""What each foreign dialect makes of a good record: where it goes, as what, and when."""

import pytest
from foreign_records import (
    ETF1,
    KARAFKA,
    MONGO,
    Y2030,
    Y2030_MICROS,
    base64_of,
    decode_foreign,
    etf1,
    headers_of,
    karafka,
    kms_avro,
    kms_json,
    mongo,
)
from kafka_records import SENT_MICROS, record
from test_avro_schedule import FRAME, GOLDEN, encode
from test_avro_schedule import SCHEDULES as GOLDEN_SCHEDULES

BYTES = b"\xff\x00\xfe"
ODD = GOLDEN_SCHEDULES["a header"]._replace(
    key=BYTES, value=b"", headers=[("h", b""), ("\u00e9", BYTES)]
)
TWICE = [("scheduler-epoch", b"1"), ("scheduler-target-topic", b"out")]
MANY = [*TWICE, ("scheduler-epoch", b"9" * 13), ("Scheduler-Target-Topic", b"no"), ("x", None)]


@pytest.fixture(scope="module")
def found(spark):
    golden = {
        f"avro {name}{suffix}": kms_avro(frame + bytes.fromhex(hexed))
        for name, hexed in GOLDEN.items()
        for frame, suffix in ((b"", ""), (FRAME, " framed"))
    }
    return decode_foreign(
        spark,
        {
            **golden,
            "avro odd": kms_avro(encode(ODD), key=BYTES),
            "json": kms_json({"headers": {"h": "eA=="}}),
            "json bare": kms_json({"key": "azE", "value": "djE", "headers": {"h": "eA"}}),
            "json text time": kms_json({"time": str(Y2030 * 1000), "other": [{"a": 1}]}),
            "json nulls": kms_json({"key": "", "value": None, "headers": None}),
            "json absent": kms_json({"value": ..., "headers": {}}),
            "json bytes": kms_json({"key": base64_of(BYTES), "headers": {"\u00e9": ""}}),
            "etf1": etf1({"scheduler-target-key": BYTES, "user": "\u00e9"}, BYTES, after_ms=1_999),
            "etf1 keyless": record(b"v", [*MANY, ("scheduler-target-key", b"")], topic="etf1"),
            "etf1 bytes as key": etf1(key=BYTES),
            "karafka": karafka({"user": BYTES}, BYTES, partition=7),
            "karafka full": karafka(
                {
                    "schedule_target_key": "tk",
                    "schedule_target_partition": "0",
                    "schedule_target_partition_key": "pk",
                }
            ),
            "karafka by key": karafka(
                {"schedule_target_key": "tk", "schedule_target_partition_key": "tk"}
            ),
            "mongo": mongo(),
            "mongo seconds": mongo({"publishAt": Y2030 + 0.25, "message": 12}),
            "mongo digits": mongo({"publishAt": str(Y2030), "message": '\u00e9 "q" \\ \n'}),
            "mongo bare": mongo({"message": None, "partitionKey": ..., "more": {"a": []}}),
        },
    )


def _sent(line):
    assert (line.reason, line.entry, line.output_topic) == (None, "put", "out"), line.detail
    return line.output_key, line.payload, headers_of(line), line.due


@pytest.mark.parametrize("suffix", ["", " framed"])
@pytest.mark.parametrize("name", GOLDEN)
def test_kms_publishes_exactly_what_an_avro_schedule_holds(found, name, suffix):
    schedule = GOLDEN_SCHEDULES[name]
    expected = (schedule.key, schedule.value, schedule.headers, Y2030_MICROS)
    assert _sent(found[f"avro {name}{suffix}"]) == expected


def test_kms_takes_any_bytes_as_key_value_and_headers(found):
    assert _sent(found["avro odd"]) == (BYTES, b"", ODD.headers, Y2030_MICROS)
    assert found["avro odd"].identity == b"kms-avro\0" + BYTES
    assert _sent(found["json bytes"])[0] == BYTES
    assert headers_of(found["json bytes"]) == [("\u00e9", b"")]


@pytest.mark.parametrize("name", ["json", "json bare"])
def test_kms_takes_base64_with_padding_and_without(found, name):
    assert _sent(found[name]) == (b"k1", b"v1", [("h", b"x")], Y2030_MICROS)


def test_kms_takes_a_time_as_text_and_ignores_fields_it_does_not_know(found):
    assert _sent(found["json text time"]) == (b"k1", b"v1", [], Y2030_MICROS)


def test_kms_publishes_a_null_value_where_none_is_given(found):
    assert _sent(found["json nulls"]) == (b"", None, [], Y2030_MICROS)
    assert _sent(found["json absent"]) == (b"k1", None, [], Y2030_MICROS)
    assert found["json absent"].headers is None


def test_etf1_keeps_all_headers_and_adds_where_the_record_was_and_when(found):
    came = {**ETF1, "scheduler-target-key": BYTES, "user": "\u00e9"}
    given = [(n, v if isinstance(v, bytes) else v.encode()) for n, v in came.items()]
    added = [
        ("scheduler-timestamp", str(SENT_MICROS // 1_000_000 + 1).encode()),
        ("scheduler-key", b"k"),
        ("scheduler-topic", b"etf1"),
    ]
    assert _sent(found["etf1"]) == (BYTES, BYTES, [*given, *added], Y2030_MICROS)


def test_etf1_takes_the_first_header_of_a_name_in_its_exact_case_and_no_key_for_an_empty_one(found):
    key, value, headers, due = _sent(found["etf1 keyless"])
    assert (key, value, due) == (None, b"v", 1_000_000)
    assert headers[:5] == MANY


def test_etf1_takes_any_bytes_as_key(found):
    assert _sent(found["etf1 bytes as key"])[2][-2] == ("scheduler-key", BYTES)


def test_karafka_keeps_all_headers_and_adds_where_the_record_was(found):
    line = found["karafka"]
    given = [(name, said.encode()) for name, said in KARAFKA.items()]
    added = [
        ("duestream-source-topic", b"karafka"),
        ("duestream-source-partition", b"7"),
        ("duestream-source-offset", str(line.source_offset).encode()),
        ("duestream-source-key", b"k"),
    ]
    assert _sent(line) == (None, BYTES, [*given, ("user", BYTES), *added], Y2030_MICROS)
    assert line.output_partition is None


def test_karafka_goes_to_the_partition_that_is_named_whatever_the_partition_key(found):
    assert _sent(found["karafka full"])[0] == b"tk"
    assert found["karafka full"].output_partition == 0


def test_karafka_goes_by_the_key_where_that_is_the_partition_key(found):
    assert _sent(found["karafka by key"])[0] == b"tk"
    assert found["karafka by key"].output_partition is None


def test_mongo_publishes_the_message_to_the_topic_of_the_settings_with_its_partition_key(found):
    assert _sent(found["mongo"]) == (b"pk", MONGO["message"].encode(), [], Y2030_MICROS)
    assert found["mongo"].identity == b"cloudevents-mongo\0k"


def test_mongo_takes_bare_numbers_as_seconds(found):
    assert _sent(found["mongo seconds"])[1:] == (b"12", [], Y2030_MICROS + 250_000)
    text = '\u00e9 "q" \\ \n'.encode()
    assert _sent(found["mongo digits"])[1:] == (text, [], Y2030_MICROS)


def test_mongo_has_no_key_without_a_partition_key_and_a_null_value_without_a_message(found):
    assert _sent(found["mongo bare"]) == (None, None, [], Y2030_MICROS)
