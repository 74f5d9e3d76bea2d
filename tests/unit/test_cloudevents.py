import random
import zlib

import pytest
from kafka_records import (
    SENT_MICROS,
    as_the_driver_sees,
    binary,
    decode_all,
    frame,
    record,
    structured,
    with_meta,
)

from pipeline.dialects.cloudevents import decode
from pipeline.dialects.json_text import _member_of
from pipeline.raw import LINE

TRACE = {"traceparent": "00-a-b-01", "tracestate": "x=y", "correlationid": "é"}
JSON = ("content-type", b"application/cloudevents+json; charset=utf-8")
BINARY_KEY = b"\xff\x00\xfe"


@pytest.fixture(scope="module")
def decoded(spark):
    full = {"outputkey": "other", "outputpartition": "3", **TRACE}
    return decode_all(
        spark,
        {
            "structured": record(structured({**full, "datacontenttype": "text/plain"}), [JSON]),
            "upper case type": record(structured(), [("content-type", JSON[1].upper())]),
            "ce headers beside": record(structured(), [JSON, ("ce_specversion", b"0.3")]),
            "binary": record(b"x", [*binary(full), ("content-type", b"text/plain")]),
            "bare": record(structured()),
            "number as partition": record(structured({"outputpartition": 0})),
            "unknown": record(structured({"myextension": "x", "other": 1, "subject": "s"})),
            "nulls": record(structured({"deliverat": None, "expirytime": None, "outputkey": None})),
            "brackets": record(structured({"outputkey": '{"a":1}', "correlationid": "[x]"})),
            "key not UTF-8": record(structured(), key=BINARY_KEY),
            "foreign header": record(b"x", [*binary(), ("x", b"\xff\xff"), ("y", None)]),
            "header twice": record(b"x", [("ce_outputtopic", b"first"), *binary()]),
            "odd header values": record(b"x", binary({"outputkey": 'a"b\\c\n{', "id": "é"})),
            "tombstone": record(None),
            "tombstone with headers": record(None, binary()),
            "cancel": record(structured({"type": "io.duestream.cancel.v1"})),
            "binary cancel": record(b"", binary({"type": "io.duestream.cancel.v1"})),
            "meta": record(with_meta({"outputTopic": "o"})),
            "full meta": record(
                with_meta({"outputTopic": "o", "outputKey": "other", "outputPartition": 3})
            ),
        },
    )


def _headers(command):
    return {header["key"]: bytes(header["value"]) for header in command.headers or []}


def test_a_command_has_the_agreed_columns_and_the_record_as_it_came(spark):
    commands = decode(frame(spark, []))
    assert commands.columns == LINE.names


@pytest.mark.parametrize("mode", ["structured", "binary"])
def test_what_an_event_asks_for_is_in_its_command(decoded, mode):
    command = decoded[mode]
    assert (command.reason, command.entry, command.kind) == (None, "put", "message")
    assert (command.output_topic, command.output_partition) == ("out", 3)
    assert bytes(command.output_key) == b"other"
    carried = {name: said.encode() for name, said in TRACE.items()}
    assert _headers(command) == {"content-type": b"text/plain", **carried}


@pytest.mark.parametrize("name", ["upper case type", "ce headers beside", "bare", "nulls"])
def test_an_event_without_wishes_of_its_own_takes_the_key_and_the_time_of_its_record(decoded, name):
    command = decoded[name]
    assert (command.reason, command.output_topic, command.due) == (None, "out", SENT_MICROS)
    assert (bytes(command.output_key), command.output_partition) == (b"k", None)
    assert command.headers is None


def test_an_identity_is_the_topic_a_nul_byte_and_the_key(decoded):
    command = decoded["key not UTF-8"]
    assert bytes(command.identity) == b"in\0" + BINARY_KEY
    assert command.hash == zlib.crc32(command.identity)
    assert bytes(command.output_key) == BINARY_KEY


def test_unknown_attributes_and_foreign_headers_do_no_harm(decoded):
    assert [decoded[name].reason for name in ("unknown", "foreign header")] == [None, None]


def test_text_that_begins_with_a_bracket_is_text(decoded):
    assert bytes(decoded["brackets"].output_key) == b'{"a":1}'
    assert _headers(decoded["brackets"]) == {"correlationid": b"[x]"}


def test_any_text_may_stand_in_a_header(decoded):
    assert bytes(decoded["odd header values"].output_key) == b'a"b\\c\n{'


def test_of_two_headers_of_a_name_the_last_counts(decoded):
    assert decoded["header twice"].output_topic == "out"


def test_zero_is_a_partition(decoded):
    assert decoded["number as partition"].output_partition == 0


@pytest.mark.parametrize("name", ["tombstone", "tombstone with headers", "cancel", "binary cancel"])
def test_a_null_value_and_an_event_that_says_so_cancel(decoded, name):
    command = decoded[name]
    assert (command.entry, command.reason) == ("cancel", None)
    assert (command.output_topic, command.payload, command.due) == (None, None, None)


def test_the_second_form_has_the_key_of_its_record_and_no_headers(decoded):
    assert bytes(decoded["meta"].output_key) == b"k"
    assert (decoded["meta"].output_topic, decoded["meta"].headers) == ("o", None)
    full = decoded["full meta"]
    assert (bytes(full.output_key), full.output_partition) == (b"other", 3)


def test_ten_thousand_random_values_are_all_refused_and_none_raises(spark):
    chance = random.Random(20260101)
    values = [chance.randbytes(chance.randrange(1, 60)) for _ in range(9_000)]
    whole = structured({"data": {"a": [1, "x"]}})
    for _ in range(1_000):  # nearly events: one byte is another
        at = chance.randrange(len(whole))
        values.append(whole[:at] + b"\x01" + whole[at + 1 :])
    rows = [record(value, offset=number) for number, value in enumerate(values)]
    commands = as_the_driver_sees(decode(frame(spark, rows)))
    assert len(commands) == len(values)
    assert all(command.reason and command.detail for command in commands)


def test_random_headers_and_keys_never_raise(spark):
    chance = random.Random(20260102)
    names = [
        "ce_specversion",
        "ce_id",
        "ce_type",
        "ce_source",
        "ce_deliverat",
        "content-type",
        "ce_",
    ]
    rows = []
    for number in range(1_000):
        headers = [
            (chance.choice(names), chance.choice([None, b"1.0", chance.randbytes(5)]))
            for _ in range(chance.randrange(6))
        ]
        rows.append(record(chance.randbytes(9), headers, chance.randbytes(3), offset=number))
    assert len(as_the_driver_sees(decode(frame(spark, rows)))) == 1_000


def test_each_record_is_parsed_once(spark):
    spark.conf.set("spark.sql.debug.maxToStringFields", "10000")
    some = decode(frame(spark, [record(structured())]))
    plan = some._jdf.queryExecution().executedPlan().toString()
    assert plan.count("from_json(StructField(specversion") == 1
    assert plan.count(_member_of("data")) == 1
