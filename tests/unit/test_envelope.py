"""Messages as CloudEvents; the SDK reads them back as what they were."""

import base64
import json
from datetime import UTC, datetime, timedelta

import pytest
from cloudevents.core.bindings import kafka
from flushes import NOW, flush_of
from hypothesis import given
from hypothesis import strategies as st

from pipeline.outbox.envelope import opened
from pipeline.outbox.record import Record
from pipeline.outbox.records import Shape
from pipeline.outbox.shapes import Envelope, OutputShapes, TopicShape

INSTANT = "2027-01-15T08:00:00.000000Z"
FIRE_ID = f"in-0-0-{NOW}"
ATTRIBUTES = {
    "specversion": "1.0",
    "id": FIRE_ID,
    "source": "duestream/in",
    "type": "io.duestream.message.v1",
    "time": INSTANT,
}


def sent(
    envelope: Envelope,
    payload: bytes | None,
    content_type: bytes | None = None,
    key: bytes | None = b"k",
) -> Record:
    """A message for a topic with an envelope, as it is produced."""
    outputs = OutputShapes([("*", TopicShape(envelope=envelope))])
    shape = Shape("dead", "internal", "markers", False, "state", outputs=outputs)
    headers = [] if content_type is None else [{"key": "content-type", "value": content_type}]
    flush = flush_of(b"k", output_key=[key], payload=[payload], headers=[headers])
    (record,) = map(Record._make, shape.messages(flush, NOW))
    return record


def read_back(record: Record):
    message = kafka.KafkaMessage(dict(record.headers), None, record.value)
    return kafka.from_kafka_event(message)


def said_of(event) -> dict[str, object]:
    names = ("specversion", "id", "source", "type", "subject")
    return {name: getattr(event, f"get_{name}")() for name in names}


def test_binary_mode_says_all_in_headers_and_leaves_the_value() -> None:
    record = sent("binary", b"\xff1", b"image/png", b"k\xc3\xa4")
    assert record == Record(
        "out",
        b"k\xc3\xa4",
        b"\xff1",
        [
            ("content-type", b"image/png"),
            ("ce_specversion", b"1.0"),
            ("ce_id", FIRE_ID.encode()),
            ("ce_source", b"duestream/in"),
            ("ce_type", b"io.duestream.message.v1"),
            ("ce_time", INSTANT.encode()),
            ("ce_subject", b"k\xc3\xa4"),
        ],
    )


def test_structured_mode_is_one_json_and_says_so() -> None:
    record = sent("structured", b"v", b"text/plain")
    assert record.headers == [("content-type", b"application/cloudevents+json")]
    assert json.loads(record.value) == ATTRIBUTES | {
        "subject": "k",
        "datacontenttype": "text/plain",
        "data": "v",
    }


@pytest.mark.parametrize(
    "text",
    [
        b'{"a": 12345678901234567890123.50, "b":1e30,"a":"\\u00e4"}',
        b" [1.0, -0, 1E+2] \n",
        b'"a string"',
        b"null",
        b"1" * 5_000,  # more digits than Python reads as a number
        b'"\\ud800"',
        '{"ä":"\U0001f600"}'.encode(),
    ],
)
@pytest.mark.parametrize(
    "content_type", [b"application/json", b"application/x+json; charset=UTF-8"]
)
def test_json_is_embedded_to_the_last_digit(text: bytes, content_type: bytes) -> None:
    value = sent("structured", text, content_type).value
    assert value.endswith(b',"data":' + text + b"}")
    json.loads(value, parse_int=str)


@pytest.mark.parametrize(
    ("payload", "content_type"),
    [
        (b'{"a":NaN}', b"application/json"),
        (b"{} {}", b"application/json"),
        (b"", b"application/json"),
        (b"\xef\xbb\xbf{}", b"application/json"),
        (b'"\xff"', b"application/json"),
        ('"ä"'.encode("utf-16"), b"application/json"),
        (b"[" * 100_000 + b"]" * 100_000, b"application/json"),
        (b"\xff", b"text/plain"),
        ("ä".encode(), b"text/plain; charset=latin-1"),
        (b"{}", b"application/json; charset='utf-16'"),
        (b"abc", b"application/octet-stream"),
        (b"abc", None),
        (b"abc", b"\xff"),
    ],
)
def test_what_cannot_stand_in_json_as_it_is_goes_as_base64(
    payload: bytes, content_type: bytes | None
) -> None:
    event = json.loads(sent("structured", payload, content_type).value)
    assert "data" not in event
    assert base64.b64decode(event["data_base64"], validate=True) == payload


@pytest.mark.parametrize("content_type", [b"text/plain", b"TEXT/csv;x=y", b"application/xml"])
def test_text_goes_as_a_string(content_type: bytes) -> None:
    text = 'line\n"quoted" \x00 \x7f ä \U0001f600'
    event = json.loads(sent("structured", text.encode(), content_type).value)
    assert (event["data"], event["datacontenttype"]) == (text, content_type.decode())


@pytest.mark.parametrize("envelope", ["raw", "binary", "structured"])
def test_a_null_value_stays_null_and_has_no_envelope(envelope: Envelope) -> None:
    record = sent(envelope, None, b"text/plain")
    assert (record.value, record.headers) == (None, [("content-type", b"text/plain")])


@pytest.mark.parametrize(
    ("key", "subject"),
    [(b"k", "k"), (None, None), (b"", None), (b"\xff", None), (b"\x00\x00\x00\x07", None)],
)
@pytest.mark.parametrize("envelope", ["binary", "structured"])
def test_the_subject_is_the_key_where_it_is_text(
    envelope: Envelope, key: bytes | None, subject: str | None
) -> None:
    record = sent(envelope, b"v", b"text/plain", key)
    assert record.key == key
    assert read_back(record).get_subject() == subject


def test_an_instant_is_written_to_the_microsecond() -> None:
    shape = Shape(
        "d", "i", "m", False, "s", outputs=OutputShapes([("*", TopicShape(envelope="binary"))])
    )
    (record,) = map(Record._make, shape.messages(flush_of(b"k", scheduled=[NOW + 1]), NOW))
    assert dict(record.headers)["ce_time"] == b"2027-01-15T08:00:00.000001Z"


texts = st.text(st.characters(exclude_categories=["Cs"]))
instants = st.integers(0, 4_000_000_000_000_000)


@given(payload=st.binary() | texts.map(str.encode), key=texts, at=instants, binary=st.booleans())
def test_the_sdk_reads_back_what_was_scheduled(payload, key, at, binary) -> None:
    mode = TopicShape(envelope="binary" if binary else "structured")
    shape = Shape(
        "dead", "internal", "markers", False, "state", outputs=OutputShapes([("*", mode)])
    )
    headers = [[{"key": "content-type", "value": b"text/plain"}]]
    flush = flush_of(key.encode(), due=[at], payload=[payload], headers=headers)
    (record,) = shape.messages(flush, at)
    event = read_back(record)
    assert said_of(event) | {"subject": None} == {
        "specversion": "1.0",
        "id": f"in-0-0-{at}",
        "source": "duestream/in",
        "type": "io.duestream.message.v1",
        "subject": None,
    }
    assert event.get_subject() in (key, None)
    assert event.get_time() == datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)
    assert event.get_datacontenttype() == "text/plain"
    data = event.get_data() or b""  # the SDK has no empty data
    assert (data.encode() if isinstance(data, str) else data) == payload


media_types = st.sampled_from([None, b"application/json", b"text/plain", b"x/y", b'a/json;x=",'])


payloads = st.binary() | texts.map(str.encode) | st.sampled_from([b"[1.0]", b'{"data":1}'])


@given(payloads, media_types)
def test_an_envelope_can_be_opened_to_the_byte(payload, content_type) -> None:
    assert opened(sent("structured", payload, content_type, b',"data":').value) == payload


@pytest.mark.parametrize(
    "value",
    [b"", b"[]", b"\xff", b'{"type":"other","data":1}', b'{"type":"io.duestream.message.v1"}'],
)
def test_what_is_no_envelope_of_ours_cannot_be_opened(value: bytes) -> None:
    assert opened(value) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
)


@given(json_values, st.booleans(), st.sampled_from([None, 2]))
def test_the_sdk_reads_back_json_as_the_same_value(said, ascii_only, indent) -> None:
    text = json.dumps(said, ensure_ascii=ascii_only, indent=indent).encode()
    event = read_back(sent("structured", text, b"application/json"))
    assert event.get_data() == said
