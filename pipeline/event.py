"""Writes a schedule, or its cancel, as the CloudEvent on Kafka that the job reads."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal

from cloudevents.core.bindings.kafka import to_binary_event, to_structured_event
from cloudevents.core.exceptions import CloudEventValidationError
from cloudevents.core.v1.event import CloudEvent

from pipeline.clock import now_micros
from pipeline.commands import Command
from pipeline.config.topics import checked_topic
from pipeline.terms import ARGUMENTS, Terms, check_terms
from pipeline.written import ScheduleError, duration, rfc3339
from state.duration import parse_duration
from state.rules.asked import ATTRIBUTES as ASKED
from state.rules.instant import parse_instant

__all__ = [
    "CANCEL_TYPE",
    "SCHEDULE_TYPE",
    "SOURCE",
    "Attributes",
    "Headers",
    "Mode",
    "Record",
    "ScheduleError",
    "Wish",
    "cancel_record",
    "checked_name",
    "event_of",
    "rfc3339",
    "schedule_record",
    "structured_record",
    "when",
]

SCHEDULE_TYPE = "io.duestream.schedule.v1"
CANCEL_TYPE = Command.CANCEL.type
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
    terms: Terms = field(default_factory=Terms)


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
    _check_key(key)
    checked_name(wish.topic, "topic")
    event = _event(_attributes(wish), wish.payload)
    if mode == "binary" and wish.payload is not None:
        message = to_binary_event(event)
        record = Record(event.get_id(), key, message.value, [*message.headers.items()])
    else:
        record = structured_record(key, event)
    return replace(record, headers=[*record.headers, *_own_headers(wish.headers or {})])


def structured_record(key: bytes, event: CloudEvent) -> Record:
    """Return the record whose value is the whole event."""
    message = to_structured_event(event)
    return Record(event.get_id(), key, message.value, [*message.headers.items()])


def cancel_record(key: bytes) -> Record:
    """Return the record that cancels what is pending under ``key``."""
    _check_key(key)
    # No value: on a compacted topic the schedule then goes for good.
    event = event_of(CANCEL_TYPE, {})
    return Record(event.get_id(), key, None, [*to_binary_event(event).headers.items()])


def event_of(kind: str, attributes: Mapping[str, str]) -> CloudEvent:
    """Return an event without data, of one of our own types."""
    return _event({"type": kind, "source": SOURCE, **attributes}, None)


def when(at: datetime | None, delay: timedelta | str | None) -> dict[str, str]:
    """Return the attribute that says when; one of the two must be given."""
    if (at is None) == (delay is None):
        raise ScheduleError("at, delay: give one of the two, and not both")
    if at is not None:
        return {"deliverat": rfc3339(at, "at")}
    return {"delayby": duration(timedelta() if delay is None else delay, "delay")}


def checked_name(topic: str, name: str) -> str:
    """Return the topic, if one can be named so; ``name`` is the argument that gave it."""
    try:
        return checked_topic(topic)
    except ValueError as error:
        raise ScheduleError(f"{name}: {error}") from error


def _check_key(key: bytes) -> None:
    if not key:
        raise ScheduleError("key: is empty; the key names the schedule, give one")


def _event(attributes: dict[str, str | datetime], payload: bytes | str | None) -> CloudEvent:
    attributes.setdefault("id", str(uuid.uuid4()))
    try:
        return CloudEvent(dict(attributes), payload)
    except CloudEventValidationError as error:
        reasons = "; ".join(str(reason) for each in error.errors.values() for reason in each)
        raise ScheduleError(f"attributes: {reasons}") from error


def _attributes(wish: Wish) -> dict[str, str | datetime]:
    terms, extra = wish.terms.attributes(), _extra(wish.attributes or {})
    _check_once(terms, extra)
    timed = {} if _needs_no_instant(wish, extra) else when(wish.at, wish.delay)
    asked = {name: str(extra[name]) for name in ASKED if name in extra}
    if terms or asked:
        now = now_micros()
        payload = None if wish.payload is None else _as_bytes(wish.payload)
        check_terms({**asked, **terms}, asked, _due(timed, now), now, payload)
    own = {
        "outputtopic": wish.topic,
        "outputkey": wish.output_key,
        "datacontenttype": wish.content_type,
    }
    given = {name: value for name, value in own.items() if value is not None}
    return {"type": SCHEDULE_TYPE, "source": SOURCE, **extra, **given, **timed, **terms}


def _needs_no_instant(wish: Wish, extra: Mapping[str, object]) -> bool:
    """Tell whether no instant is given, and none is needed."""
    by_attribute = not extra.keys().isdisjoint(("repeatevery", "repeatcron", "settlefor"))
    return wish.at is None and wish.delay is None and (wish.terms.says_when() or by_attribute)


def _due(timed: dict[str, str], now: int) -> int | None:
    """Return what the attributes come to, None without any."""
    if "delayby" in timed:
        return now + parse_duration(timed["delayby"])
    return parse_instant(timed["deliverat"]) if timed else None


def _check_once(terms: Mapping[str, str], extra: Mapping[str, object]) -> None:
    for name in terms:
        if name in extra:
            raise ScheduleError(
                f"attributes: {name} is given by {ARGUMENTS[name]} too; give it once"
            )


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


def _own_headers(headers: Headers) -> list[tuple[str, bytes]]:
    for name in headers:
        if name.lower().startswith("ce_") or name.lower() == "content-type":
            raise ScheduleError(f"headers: {name} would change the event; use attributes instead")
    return [(name, _as_bytes(value)) for name, value in headers.items()]


def _as_bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value
