import base64
import json

import pytest
from kafka_records import binary, decode_all, record, structured, with_data, with_meta

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
        "binary without id": ((b"x", binary(without="id")), "id is missing"),
        "metaData without topic": (with_meta({"startAt": 1}), "metaData.outputTopic"),
        "metaData that is text": (with_meta('"x"'), "outputtopic"),
    },
    Reason.INVALID_ATTRIBUTE: {
        "an object as outputkey": (structured({"outputkey": {"a": 1}}), "'outputkey' is"),
        "an array as correlationid": (structured({"correlationid": [1]}), "'correlationid' is"),
        "binary not UTF-8": ((b"x", binary({"outputtopic": b"\xff"})), "ce_outputtopic is"),
    },
    Reason.UNSUPPORTED_ATTRIBUTE: {
        "binary that repeats": ((b"x", binary({"repeatevery": "1h"})), "repeatevery"),
        "metaData that repeats": (with_meta({**META, "repeatEvery": "1h"}), "repeatEvery"),
    },
    Reason.CONFLICTING_ATTRIBUTES: {
        "both times": (structured({"deliverat": "?", "delayby": "1h"}), "deliverat"),
        "both data": (structured({"data": 1, "data_base64": "QQ=="}), "data_base64"),
        "metaData with both": (with_meta({**META, "startAt": 1, "delayBy": "1h"}), "startAt"),
        "metaData beside deliverat": (BESIDE_META, "deliverat"),
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
NOT_YET = [
    "expirytime",
    "repeatevery",
    "repeatcron",
    "repeattz",
    "repeatuntil",
    "repeatfor",
    "repeatcount",
    "onsameid",
    "comparefield",
    "mindeviation",
    "settlefor",
]


@pytest.fixture(scope="module")
def refused(spark):
    return decode_all(spark, {case: _record(sent) for case, (sent, _) in CASES.items()})


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_what_cannot_be_followed_is_refused_with_a_reason_and_a_way_out(refused, case):
    found = refused[case]
    assert (found.reason, CASES[case][1] in found.detail) == (case[0], True), found.detail
    assert (found.entry, found.output_topic) == ("reject", "dead")


def test_an_attribute_not_supported_yet_is_refused_by_name_and_never_ignored(spark):
    found = decode_all(spark, {name: record(structured({name: "x"})) for name in NOT_YET})
    for name, command in found.items():
        assert command.reason == Reason.UNSUPPORTED_ATTRIBUTE
        assert name in command.detail


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
