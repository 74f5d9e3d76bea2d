import base64
import json

import pytest
from kafka_records import binary, decode_all, record, structured, with_data, with_meta

from pipeline.commands import Command
from pipeline.reasons import Reason

DEEP = 70


def _typed(content_type):
    return [("content-type", content_type.encode())]


def _record(sent):
    return record(sent) if isinstance(sent, bytes) else record(*sent)


NOT_UTF8 = with_data('"?"').replace(b"?", b"\xff")
META = {"outputTopic": "o"}
BESIDE_META = with_meta(META)[:-1] + b', "deliverat": "2030-01-01T00:00:00Z"}'

# Of each reason: what is sent (a value, or a value with headers), and what the detail must mention.
CANCEL, MOVE, PAUSE = (
    {"type": c.type} for c in (Command.CANCEL, Command.RESCHEDULE, Command.PAUSE)
)
REFUSED = {
    Reason.INVALID_JSON: {
        "an empty value": (b"", "the value"),
        "text": (b"hello", "'hello'"),
        "an array": (b"[" + structured() + b"]", "one JSON object"),
        "a cut object": (structured()[:-1], "one JSON object"),
        "text after": (structured() + b" x", "nothing after"),
        "a bracket after": (structured() + b"]", "nothing after"),
        "a brace after": (structured() + b"}", "nothing after"),
        "two objects": (structured() * 2, "nothing after"),
        "text after data": (with_data("1") + b",1", "nothing after"),
        "single quotes": (b"{'specversion':'1.0'}", "JSON"),
        "not a number": (with_data("NaN"), "JSON"),
        "a trailing comma": (with_data("[1,]"), "JSON"),
        "bytes not UTF-8": (NOT_UTF8, "UTF-8"),
        "half a surrogate": (with_data('"\\ud800 x"'), "surrogate"),
        "the other half": (with_data('"\\\\\\udc00"'), "surrogate"),
        "too deep data": (with_data("[" * DEEP + "]" * DEEP), "levels"),
        "too deep beside": (with_data('1, "x":' + "[" * DEEP + "]" * DEEP), "levels"),
        "thousands of levels": (with_data("[" * 5000 + "]" * 5000), "levels"),
    },
    Reason.NOT_A_CLOUDEVENT: {
        "another content type": ((structured(), _typed("application/json")), "application/json"),
        "a batch": ((b"[]", _typed("application/cloudevents-batch+json")), "batch"),
        "Avro": ((b"x", _typed("application/cloudevents+avro")), "avro"),
        "a type not UTF-8": ((b"x", [("content-type", b"\xff")]), "content-type"),
    },
    Reason.UNSUPPORTED_SPECVERSION: {
        "specversion 0.3": (structured({"specversion": "0.3"}), "'0.3'"),
        "specversion 1": (structured({"specversion": "1"}), "'1'"),
        "binary of 0.3": ((b"x", binary({"specversion": "0.3"})), "'0.3'"),
    },
    Reason.MISSING_ATTRIBUTE: {
        "no specversion": (structured(without="specversion"), "specversion is missing"),
        "no id": (structured(without="id"), "id is missing"),
        "an empty source": (structured({"source": ""}), "source is missing"),
        "a null type": (structured({"type": None}), "type is missing"),
        "an empty object": (b"{}", "specversion is missing"),
        "no outputtopic": (structured(without="outputtopic"), "outputtopic"),
        "no time of a reschedule": (structured(MOVE), "deliverat or delayby"),
        "no topic of a scope": (
            structured({**PAUSE, "scope": "topic"}, without="outputtopic"),
            "outputtopic",
        ),
        "binary without id": ((b"x", binary(without="id")), "id is missing"),
        "metaData without topic": (with_meta({"startAt": 1}), "metaData.outputTopic"),
        "metaData that is text": (with_meta('"x"'), "outputtopic"),
    },
    Reason.INVALID_ATTRIBUTE: {
        "an object as outputkey": (structured({"outputkey": {"a": 1}}), "'outputkey' is"),
        "an array as correlationid": (structured({"correlationid": [1]}), "'correlationid' is"),
        "binary not UTF-8": ((b"x", binary({"outputtopic": b"\xff"})), "ce_outputtopic is"),
    },
    Reason.CONFLICTING_ATTRIBUTES: {
        "both times": (structured({"deliverat": "?", "delayby": "1h"}), "deliverat"),
        "both data": (structured({"data": 1, "data_base64": "QQ=="}), "data_base64"),
        "metaData with both": (with_meta({**META, "startAt": 1, "delayBy": "1h"}), "startAt"),
        "metaData beside deliverat": (BESIDE_META, "deliverat"),
        "two repeats": (structured({"repeatevery": "1h", "repeatcron": "@daily"}), "repeatcron"),
        "binary with half a repeat": ((b"x", binary({"repeatcount": "3"})), "repeatevery"),
        "metaData with half a repeat": (with_meta({**META, "onMiss": "all"}), "metaData.onMiss"),
        "two expiries": (structured({"expirytime": "?", "expireafter": "1h"}), "expireafter"),
        "a settling event with a time": (
            structured({"onsameid": "settle", "settlefor": "5s", "delayby": "1h"}),
            "delayby",
        ),
        "two times of a reschedule": (
            structured({**MOVE, "deliverat": "2030-01-01T00:00:00Z", "delayby": "1h"}),
            "deliverat or delayby",
        ),
    },
    Reason.INVALID_REPEAT: {
        "no cron": (structured({"repeatcron": "every day {", "repeatcount": 3}), "every day {"),
        "no zone": (
            structured({"repeatcron": "@daily", "repeattz": "Mars/Olympus", "repeatcount": 3}),
            "Mars/Olympus",
        ),
        "too often": (structured({"repeatevery": "1ms", "repeatcount": 3}), "repeatevery"),
    },
    Reason.ENDLESS_REPEAT: {
        "structured": (structured({"repeatevery": "1h"}), "schedules.endless_repeats"),
        "metaData": (with_meta({**META, "repeatEvery": "1h"}), "metaData.repeatCount"),
    },
    Reason.INVALID_POLICY: {
        "unknown": (structured({"onsameid": "guess"}), "'guess'"),
        "no such field": (
            (b'{"a": 1}', binary({"onsameid": "ignoreduplicate", "comparefield": "$.b"})),
            "$.b",
        ),
    },
    Reason.INVALID_EXPIRY: {
        "before due": (
            structured({"delayby": "1h", "expirytime": "2026-01-01T12:30:00Z"}),
            "expirytime",
        ),
    },
    Reason.INVALID_COMMAND: {
        "a scope of a cancel": (structured({**CANCEL, "scope": "all"}), "'all'"),
        "a scope nobody knows": (structured({**PAUSE, "scope": "world"}), "key, topic or all"),
        "another version": (structured({"type": "io.duestream.pause.v2"}), "pause.v1"),
        "other letters": (structured({"type": "io.duestream.sendNow.v1"}), "'io.duestream.sendNow"),
        "no version": (structured({**CANCEL, "ifversion": "newest"}), "partition-offset"),
    },
    Reason.TOPIC_NOT_ALLOWED: {
        "a reply elsewhere": (structured({**CANCEL, "replyto": "nowhere"}), "outputs.allow"),
    },
    Reason.INVALID_BASE64: {
        "a blank": (structured({"data_base64": "QUJD RA=="}), "'QUJD RA=='"),
        "no padding": (structured({"data_base64": "QQ"}), "padding"),
        "letters of URLs": (structured({"data_base64": "-_-_"}), "'-_-_'"),
    },
    Reason.INVALID_TIME: {
        "a bare number": (structured({"deliverat": 1893456000}), "'1893456000'"),
        "metaData without offset": (with_meta({**META, "startAt": "2030-01-01T00:00:00"}), "start"),
    },
    Reason.INVALID_DURATION: {
        "months": (structured({"delayby": "P1M"}), "'P1M'"),
        "metaData of months": (with_meta({**META, "delayBy": "P1M"}), "metaData.delayBy"),
    },
    Reason.TIME_OUT_OF_RANGE: {
        "centuries": (structured({"deliverat": "2126-01-03T00:00:00Z"}), "deliverat"),
        "a delay of centuries": (structured({"delayby": "9999999h"}), "delayby"),
        "a delay beyond numbers": (structured({"delayby": "9" * 60 + "h"}), "delayby"),
        "milliseconds": (with_meta({**META, "startAt": 1893456000000}), "not milliseconds"),
        "nanoseconds": (with_meta({**META, "startAt": 1893456000000000000}), "unit"),
    },
    Reason.INVALID_PARTITION: {
        "below zero": (structured({"outputpartition": -1}), "'-1'"),
        "too large": (structured({"outputpartition": "9999999999"}), "outputpartition"),
    },
    Reason.INVALID_RETRY: {
        "no number": (structured({"retrymax": "often"}), "'often'"),
        "below none": (structured({"retrymax": -1}), "retrymax"),
        "no duration": (with_meta({**META, "retryFor": "long"}), "metaData.retryFor"),
    },
    Reason.INVALID_MESSAGE: {
        "an object": (with_meta(META, '{"a": 1}'), "data.message"),
        "an array": (with_meta(META, "[1]"), "'[1]'"),
    },
}
CASES = {(reason, name): case for reason, of in REFUSED.items() for name, case in of.items()}


@pytest.fixture(scope="module")
def refused(spark):
    return decode_all(spark, {case: _record(sent) for case, (sent, _) in CASES.items()})


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_what_cannot_be_followed_is_refused_with_a_reason_and_a_way_out(refused, case):
    found = refused[case]
    assert (found.reason, CASES[case][1] in found.detail) == (case[0], True), found.detail
    assert (found.entry, found.output_topic) == ("reject", "dead")


def test_a_cancel_is_held_to_the_rules_of_events_but_not_of_puts(spark):
    kind = {"type": "io.duestream.cancel.v1"}
    found = decode_all(
        spark,
        {
            "good": record(structured({**kind, "deliverat": "?"}, without="outputtopic")),
            "bad": record(structured({**kind, "specversion": "2"})),
        },
    )
    assert (found["good"].entry, found["good"].reason) == ("cancel", None)
    assert found["bad"].reason == Reason.UNSUPPORTED_SPECVERSION


def test_a_detail_repeats_at_most_200_characters_of_a_value(spark):
    found = decode_all(spark, {"long": record(structured({"delayby": "x" * 5000}))})
    assert "x" * 200 in found["long"].detail
    assert "x" * 201 not in found["long"].detail


def test_bad_base64_that_the_sdk_accepts_is_refused(spark):
    lenient = "QQ==\n"
    assert base64.b64decode(lenient) == b"A"
    value = json.dumps({**json.loads(structured()), "data_base64": lenient}).encode()
    found = decode_all(spark, {"lenient": record(value, _typed("application/cloudevents+json"))})
    assert found["lenient"].reason == Reason.INVALID_BASE64
