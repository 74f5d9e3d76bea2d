import base64
import json

import pytest
from kafka_records import EVENT, binary, decode_all, record, structured, with_data, with_meta

from pipeline.dialects.json_text import DEEPEST

EXACT = [
    "1e30",
    "12345678901234567890123.5",
    "-0",
    "-0.0",
    "1.0",
    "1E+400",
    "123456789012345678901234567890",
    "0.1000000000000000055511151231257827",
    "true",
    '{ "a" : [1.0 ,\t2e5] , "b":"\\u00e9\\"]}", "a":{} }',
    '{"é":"ü€😀"}',
    "[1, 2 ]",
    "{}",
    '{"data": {"metaData": 1.50}}',
    "[" * DEEPEST + "]" * DEEPEST,
]
TEXTS = [
    "",
    " ",
    "plain",
    'quote " and \\ back',
    "é€😀",
    "a\nb\tc",
    '{"a": 1}',
    "null",
    "\\u0041",
    "\0",
]
UNUSUAL = {
    "the last of two": (b'"data": 1.0, "x": 2, "data": 2.50', b"2.50"),
    "an escaped name": (b'"d\\u0061ta": 1.50', b"1.50"),
    "an escaped name last": (b'"data": 1, "d\\u0061ta": 2.50', b"2.50"),
    "a nested data before": (b'"x": {"data": 1}, "data": 2.50', b"2.50"),
    "data within a string": (b'"x": "\\"data\\": 1", "data": 2.50', b"2.50"),
    "none": (b'"x": 1', None),
    "null": (b'"data": null', None),
}


def _payloads(spark, values):
    found = decode_all(spark, {str(n): record(value) for n, value in enumerate(values)})
    assert [row.reason for row in found.values()] == [None] * len(values)
    return [row.payload and bytes(row.payload) for row in found.values()]


def test_json_data_is_published_byte_for_byte_as_it_was_written(spark):
    payloads = _payloads(spark, [with_data(text) for text in EXACT])
    assert payloads == [text.encode() for text in EXACT]


def test_a_json_string_is_published_as_its_text(spark):
    for ascii_only in (True, False):
        written = [json.dumps(text, ensure_ascii=ascii_only) for text in TEXTS]
        found = _payloads(spark, [with_data(text) for text in written])
        assert [payload or b"" for payload in found] == [text.encode() for text in TEXTS]


@pytest.fixture(scope="module")
def unusual(spark):
    opening = json.dumps(EVENT)[:-1].encode()
    values = {n: record(opening + b", " + said + b"}") for n, (said, _) in UNUSUAL.items()}
    return decode_all(spark, values)


@pytest.mark.parametrize("name", UNUSUAL)
def test_of_unusual_json_the_same_data_is_taken_as_by_any_parser(unusual, name):
    payload = unusual[name].payload
    assert (payload and bytes(payload)) == UNUSUAL[name][1]


def test_large_values_are_read_without_exhausting_the_stack(spark):
    many = ", ".join(f'"x{n}": [1, "\\\\\\""]' for n in range(50_000))
    escapes = '"' + "\\n" * 500_000 + '"'
    twice = ", ".join(f'"data": {n}' for n in range(50_000))
    values = [
        with_data(f"1.50, {many}"),
        with_data(escapes),
        with_data(f'0, {twice}, "data": 1.50'),
    ]
    found = _payloads(spark, values)
    assert found == [b"1.50", b"\n" * 500_000, b"1.50"]


def test_binary_data_in_json_is_decoded(spark):
    data = bytes(range(256))
    value = structured({"data_base64": base64.b64encode(data).decode()})
    empty = structured({"data_base64": "", "data": None})
    found = decode_all(spark, {"all": record(value), "empty": record(empty)})
    assert bytes(found["all"].payload) == data
    assert bytes(found["empty"].payload) == b""


def test_the_value_of_a_binary_event_is_published_byte_for_byte(spark):
    values = [b"", b"\xff\x00\xfe", b'{"data": 1}', b"x" * 100_000]
    found = decode_all(spark, {str(n): record(v, binary()) for n, v in enumerate(values)})
    assert [bytes(row.payload) for row in found.values()] == values


def test_a_message_beside_meta_data_is_published_as_its_text(spark):
    written = {
        '"hello"': b"hello",
        '"{\\"a\\": 1}"': b'{"a": 1}',
        '"\\u00e9"': "é".encode(),
        "1e30": b"1e30",
        "12345678901234567890123.50": b"12345678901234567890123.50",
        "true": b"true",
        "null": None,
        '""': b"",
    }
    meta = {"outputTopic": "o", "unknown": {"is": ["fine"]}}
    found = decode_all(spark, {text: record(with_meta(meta, text)) for text in written})
    for text, expected in written.items():
        payload = found[text].payload
        assert (None if payload is None else bytes(payload)) == expected, text
        assert (found[text].reason, found[text].headers) == (None, None)


def test_data_that_has_a_meta_data_field_of_its_own_stays_data(spark):
    text = '{"message": "m", "metaData": {"outputTopic": "elsewhere"}}'
    found = decode_all(spark, {"own": record(with_data(text))})["own"]
    assert (found.output_topic, bytes(found.payload)) == ("out", text.encode())


def test_data_that_is_text_which_looks_like_meta_data_is_not_read_as_such(spark):
    text = json.dumps('{"message": "m", "metaData": {"outputTopic": "elsewhere"}}')
    event = {n: v for n, v in EVENT.items() if n != "outputtopic"}
    value = (json.dumps(event)[:-1] + ', "data": ' + text + "}").encode()
    assert decode_all(spark, {"text": record(value)})["text"].reason == "missing_attribute"
