"""What a message may ask for besides what, where to and when, in Python's own types."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal
from zoneinfo import ZoneInfo

from pipeline.written import ScheduleError, duration, rfc3339
from state.rules.asked import Refused, read_asked

Span = timedelta | str
Number = int | float | Decimal | str

# The argument of ``Client.schedule`` that gives each attribute.
ARGUMENTS = {
    "deliverat": "at",
    "delayby": "delay",
    "retrymax": "retry_max",
    "retryfor": "retry_for",
    "expirytime": "expires_at",
    "expireafter": "expire_after",
    "repeatevery": "repeat.every",
    "repeatcron": "repeat.cron",
    "repeattz": "repeat.tz",
    "repeatuntil": "repeat.until",
    "repeatfor": "repeat.lasting",
    "repeatcount": "repeat.count",
    "onmiss": "repeat.on_miss",
    "onsameid": "same_key.policy",
    "comparefield": "same_key.compare",
    "mindeviation": "same_key.min_deviation",
    "settlefor": "same_key.settle_for",
    "settlemax": "same_key.settle_max",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """How a message repeats: by an interval or by a cron expression, and until when.

    The first occurrence is at the message's own instant. Without one it is at once, or at the first
    match of ``cron``. ``count``, ``until`` or ``lasting`` end the series; ``on_miss`` says what to
    do about occurrences that were missed while the job was down.
    """

    every: Span | None = None
    cron: str | None = None
    tz: str | ZoneInfo | None = None  # of ``cron``; else UTC
    until: datetime | None = None
    lasting: Span | None = None  # from the first occurrence on
    count: int | None = None
    on_miss: Literal["all", "last", "skip"] | None = None  # else last


@dataclass(frozen=True, slots=True, kw_only=True)
class SameKey:
    """What this message does to one that is pending under its key; see docs/schedules.md."""

    policy: Literal[
        "replace",
        "keep",
        "ignoreduplicate",
        "ignoresmallchange",
        "settle",
        "debounce",
        "throttle",
    ]
    compare: str | None = None  # JSON path of what is compared; else the whole payload
    min_deviation: Number | None = None  # a number, or a part of the pending one: "5%"
    settle_for: Span | None = None
    settle_max: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """All that a message asks for besides what, where to and when."""

    repeat: Repeat | None = None
    same_key: SameKey | None = None
    expires_at: datetime | None = None
    expire_after: Span | None = None
    retry_max: int | None = None
    retry_for: Span | None = None

    def attributes(self) -> dict[str, str]:
        """Return the attributes that say so."""
        own = {
            "retrymax": _text(self.retry_max),
            "retryfor": _span(self.retry_for, "retry_for"),
            "expirytime": _instant(self.expires_at, "expires_at"),
            "expireafter": _span(self.expire_after, "expire_after"),
            **(_of_repeat(self.repeat) if self.repeat else {}),
            **(_of_same_key(self.same_key) if self.same_key else {}),
        }
        return {name: value for name, value in own.items() if value is not None}

    def says_when(self) -> bool:
        """Tell whether these terms alone decide when the message is due."""
        settles = self.same_key is not None and self.same_key.settle_for is not None
        return self.repeat is not None or settles


def check_terms(
    attributes: Mapping[str, str],
    given: Mapping[str, str],
    due: int | None,
    now: int,
    payload: bytes | None,
) -> None:
    """Refuse here what the job would refuse; ``given`` are the attributes given as such.

    Whether a repeat may go on for ever is a matter of the job's settings, unknown here.
    """
    names = ARGUMENTS | {name: name for name in given}
    if attributes.keys() == given.keys():
        names = {}
    read = read_asked(
        attributes, names=names, due=due, timestamp=now, payload=payload, allow_forever=True
    )
    if isinstance(read, Refused):
        raise ScheduleError(read.sentence)


def _of_repeat(repeat: Repeat) -> dict[str, str | None]:
    if repeat.every is None and repeat.cron is None:
        raise ScheduleError("repeat: give every or cron, such as Repeat(every='1h', count=3)")
    return {
        "repeatevery": _span(repeat.every, "repeat.every"),
        "repeatcron": _text(repeat.cron),
        "repeattz": _text(repeat.tz),
        "repeatuntil": _instant(repeat.until, "repeat.until"),
        "repeatfor": _span(repeat.lasting, "repeat.lasting"),
        "repeatcount": _text(repeat.count),
        "onmiss": _text(repeat.on_miss),
    }


def _of_same_key(same: SameKey) -> dict[str, str | None]:
    return {
        "onsameid": _text(same.policy),
        "comparefield": _text(same.compare),
        "mindeviation": _number(same.min_deviation),
        "settlefor": _span(same.settle_for, "same_key.settle_for"),
        "settlemax": _span(same.settle_max, "same_key.settle_max"),
    }


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _number(value: Number | None) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return format(Decimal(str(value)), "f")


def _span(span: Span | None, name: str) -> str | None:
    return None if span is None else duration(span, name)


def _instant(instant: datetime | None, name: str) -> str | None:
    return None if instant is None else rfc3339(instant, name)
