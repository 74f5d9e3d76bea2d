"""Writes a schedule, or its cancel, as the CloudEvent on Kafka that the job reads."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from cloudevents.core.bindings.kafka import to_binary_event, to_structured_event
from cloudevents.core.exceptions import CloudEventValidationError
from cloudevents.core.v1.event import CloudEvent

from pipeline.config.topics import checked_topic
from state.duration import parse_duration
from state.errors import DuestreamError

SCHEDULE_TYPE = "io.duestream.schedule.v1"
CANCEL_TYPE = "io.duestream.cancel.v1"
SOURCE = "/duestream/client"

Mode = Literal["binary", "structured"]
Attributes = Mapping[str, str | int | datetime]
Headers = Mapping[str, str | bytes]

_BY_PARAMETER = {
    "outputtopic": "topic",
    "deliverat": "at",
    "delayby": "delay",
    "outputkey": "output_key",
    "datacontenttype": "content_type",
}


class ScheduleError(DuestreamError):
    """What was to be scheduled is not complete, or contradicts itself."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What goes out, where and when, as the caller said it."""

    payload: bytes | str | None
    topic: str
    at: datetime | None = None
    delay: timedelta | str | None = None
    output_key: str | None = None
    content_type: str | None = None
    attributes: Attributes | None = None
    headers: Headers | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """A Kafka record that is ready to be sent."""

    id: str
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]]
    partition: int | None = None  # None: by the key


def schedule_record(key: bytes, wish: Wish, mode: Mode = "binary") -> Record:
    """Return the record that schedules ``wish`` under ``key``.

    In binary mode the payload is the record's value, byte for byte. A message without a payload is
    always sent in structured mode: a record without a value would be a cancel.
    """
    _check(key, wish.topic)
    event = _event(_attributes(wish), wish.payload)
    binary = mode == "binary" and wish.payload is not None
    message = to_binary_event(event) if binary else to_structured_event(event)
    headers = [*message.headers.items(), *_own_headers(wish.headers or {})]
    return Record(event.get_id(), key, message.value, headers)


def cancel_record(key: bytes) -> Record:
    """Return the record that cancels what is pending under ``key``."""
    _check(key)
    event = _event({"type": CANCEL_TYPE, "source": SOURCE}, None)
    # No value: on a compacted topic the schedule then goes for good.
    return Record(event.get_id(), key, None, [*to_binary_event(event).headers.items()])


def rfc3339(instant: datetime, name: str) -> str:
    """Write an instant in UTC; ``name`` is told when it has no time zone."""
    if instant.tzinfo is None:
        raise ScheduleError(
            f"{name}: {instant.isoformat()} has no time zone; "
            "say which is meant, such as datetime.now(UTC)"
        )
    try:
        return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except OverflowError as error:
        raise ScheduleError(
            f"{name}: {instant.isoformat()} lies outside the years 1 to 9999 in UTC; give another"
        ) from error


def _check(key: bytes, topic: str = "ok") -> None:
    """Refuse here what the job would refuse."""
    if not key:
        raise ScheduleError("key: is empty; the key names the schedule, give one")
    try:
        checked_topic(topic)
    except ValueError as error:
        raise ScheduleError(f"topic: {error}") from error


def _event(attributes: dict[str, str | datetime], payload: bytes | str | None) -> CloudEvent:
    attributes.setdefault("id", str(uuid.uuid4()))
    try:
        return CloudEvent(dict(attributes), payload)
    except CloudEventValidationError as error:
        reasons = "; ".join(str(reason) for each in error.errors.values() for reason in each)
        raise ScheduleError(f"attributes: {reasons}") from error


def _attributes(wish: Wish) -> dict[str, str | datetime]:
    own = {
        "outputtopic": wish.topic,
        "outputkey": wish.output_key,
        "datacontenttype": wish.content_type,
        **_when(wish.at, wish.delay),
    }
    given = {name: value for name, value in own.items() if value is not None}
    return {"type": SCHEDULE_TYPE, "source": SOURCE, **_extra(wish.attributes or {}), **given}


def _extra(attributes: Attributes) -> dict[str, str | datetime]:
    for name in attributes:
        if name in _BY_PARAMETER:
            raise ScheduleError(
                f"attributes: {name} is given by the parameter {_BY_PARAMETER[name]}"
            )
    return {name: _attribute(name, value) for name, value in attributes.items()}


def _attribute(name: str, value: str | int | datetime) -> str | datetime:
    if not isinstance(value, datetime):
        return str(value)
    text = rfc3339(value, f"attributes: {name}")
    return value if name == "time" else text


def _when(at: datetime | None, delay: timedelta | str | None) -> dict[str, str]:
    if (at is None) == (delay is None):
        raise ScheduleError("at, delay: give one of the two, and not both")
    if at is not None:
        return {"deliverat": rfc3339(at, "at")}
    if isinstance(delay, str):
        return {"delayby": _checked(delay)}
    return {"delayby": _iso(delay or timedelta())}


def _checked(delay: str) -> str:
    try:
        parse_duration(delay)
    except ValueError as error:
        raise ScheduleError(f"delay: {error}") from error
    return delay


def _iso(delay: timedelta) -> str:
    micros = delay // timedelta(microseconds=1)
    if micros < 0:
        raise ScheduleError("delay: is below zero; what is due at once has a delay of 0s")
    return f"PT{micros // 1_000_000}.{micros % 1_000_000:06d}S"


def _own_headers(headers: Headers) -> list[tuple[str, bytes]]:
    for name in headers:
        if name.lower().startswith("ce_") or name.lower() == "content-type":
            raise ScheduleError(f"headers: {name} would change the event; use attributes instead")
    return [(name, _as_bytes(value)) for name, value in headers.items()]


def _as_bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value
