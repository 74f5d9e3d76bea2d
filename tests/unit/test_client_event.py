"""What the client writes, read back with the CloudEvents SDK and with our own durations."""

import json
from base64 import b64decode
from datetime import UTC, datetime, timedelta, timezone

import pytest
from cloudevents.core.bindings.kafka import KafkaMessage, from_binary_event, from_structured_event
from hypothesis import given
from hypothesis import strategies as st

from pipeline.event import CANCEL_TYPE, Record, ScheduleError, Wish, cancel_record, schedule_record
from state.duration import parse_duration

NOON = datetime(2030, 1, 31, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def headers_of(record: Record) -> dict[str, bytes]:
    return dict(record.headers)


def body_of(record: Record) -> dict[str, object]:
    assert record.value is not None
    body = json.loads(record.value)
    assert isinstance(body, dict)
    return body


def test_binary_mode_says_all_in_headers_and_leaves_the_payload_alone() -> None:
    record = schedule_record(b"k", Wish(b'{"a": 1e30}\x00\xff', "orders", at=NOON))
    headers = headers_of(record)
    assert record.value == b'{"a": 1e30}\x00\xff'
    assert record.key == b"k"
    assert headers["ce_specversion"] == b"1.0"
    assert headers["ce_id"] == record.id.encode()
    assert headers["ce_outputtopic"] == b"orders"
    assert headers["ce_deliverat"] == b"2030-01-31T12:00:00Z"
    assert "content-type" not in headers


def test_the_sdk_reads_what_binary_mode_writes() -> None:
    wish = Wish("hello", "orders", delay="15m", output_key="käse", content_type="text/plain")
    record = schedule_record(b"k", wish)
    assert record.value is not None
    event = from_binary_event(KafkaMessage(headers_of(record), record.key, record.value))
    assert event.get_id() == record.id
    assert event.get_extension("delayby") == "15m"
    assert event.get_extension("outputkey") == "käse"
    assert event.get_data() == "hello"


def test_structured_mode_holds_text_as_text_and_bytes_in_base64() -> None:
    text = schedule_record(b"k", Wish('{"n": 1.0}', "orders", at=NOON), "structured")
    raw = schedule_record(b"k", Wish(b"\xff\x00", "orders", at=NOON), "structured")
    assert body_of(text)["data"] == '{"n": 1.0}'
    assert b64decode(str(body_of(raw)["data_base64"])) == b"\xff\x00"
    assert headers_of(text)["content-type"] == b"application/cloudevents+json"
    assert text.value is not None
    event = from_structured_event(KafkaMessage(headers_of(text), None, text.value))
    assert event.get_extension("outputtopic") == "orders"


def test_a_message_without_payload_is_no_cancel() -> None:
    record = schedule_record(b"k", Wish(None, "orders", at=NOON), "binary")
    assert body_of(record)["outputtopic"] == "orders"
    assert not {"data", "data_base64"} & set(body_of(record))


def test_an_empty_payload_is_kept_apart_from_none() -> None:
    assert schedule_record(b"k", Wish("", "orders", at=NOON)).value == b""


def test_a_cancel_has_no_value_and_says_what_it_is() -> None:
    record = cancel_record(b"\xff")
    assert (record.key, record.value) == (b"\xff", None)
    assert headers_of(record)["ce_type"] == CANCEL_TYPE.encode()


def test_an_instant_is_written_in_utc_to_the_microsecond() -> None:
    at = datetime(2030, 1, 31, 13, 0, 0, 7, tzinfo=timezone(timedelta(hours=1)))
    headers = headers_of(schedule_record(b"k", Wish(b"", "orders", at=at)))
    assert headers["ce_deliverat"] == b"2030-01-31T12:00:00.000007Z"


@given(st.timedeltas(min_value=timedelta(), max_value=timedelta(days=36500)))
def test_any_delay_reads_back_to_the_microsecond(delay: timedelta) -> None:
    headers = headers_of(schedule_record(b"k", Wish(b"", "orders", delay=delay)))
    assert parse_duration(headers["ce_delayby"].decode()) == delay // timedelta(microseconds=1)


def test_headers_and_attributes_go_along() -> None:
    wish = Wish(
        b"",
        "orders",
        at=NOON,
        attributes={"expirytime": NOON + HOUR, "retrymax": 3, "type": "my.type"},
        headers={"trace": b"\xff", "note": "ä"},
    )
    headers = headers_of(schedule_record(b"k", wish))
    assert headers["ce_expirytime"] == b"2030-01-31T13:00:00Z"
    assert headers["ce_retrymax"] == b"3"
    assert headers["ce_type"] == b"my.type"
    assert (headers["trace"], headers["note"]) == (b"\xff", "ä".encode())


@pytest.mark.parametrize(
    ("wish", "sentence"),
    [
        (Wish(b"", "t"), "at, delay: give one of the two"),
        (Wish(b"", "t", at=NOON, delay="1s"), "at, delay: give one of the two"),
        (Wish(b"", "t", at=NOON.replace(tzinfo=None)), "at: 2030-01-31T12:00:00 has no time zone"),
        (Wish(b"", "t", delay="soon"), "delay: 'soon' is not a duration"),
        (Wish(b"", "t", delay=timedelta(seconds=-1)), "delay: is below zero"),
        (Wish(b"", "t", at=NOON, attributes={"outputtopic": "x"}), "by the parameter topic"),
        (Wish(b"", "t", at=NOON, headers={"ce_id": "x"}), "headers: ce_id would change the event"),
        (Wish(b"", "t", at=NOON, attributes={"My-Name": "x"}), "attributes: .*My-Name"),
        (
            Wish(b"", "t", at=NOON, attributes={"expirytime": NOON.replace(tzinfo=None)}),
            "attributes: expirytime: .* has no time zone",
        ),
    ],
)
def test_a_wish_that_cannot_be_is_refused(wish: Wish, sentence: str) -> None:
    with pytest.raises(ScheduleError, match=sentence):
        schedule_record(b"k", wish)
