"""Writes times, counts and sizes for people; templates use these as filters."""

from datetime import UTC, datetime, timedelta

from markupsafe import Markup

from pipeline.admin.console.texts import t
from pipeline.clock import instant_text, now_micros
from pipeline.instants import span_text
from state.row import PARKED

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NEVER = "\u2013"
_NO_TIME = Markup("\u2013")
_STEPS = ((1_000_000, "MB"), (1_000, "kB"))


def when(micros: int | None, precise: bool = False) -> Markup:
    """Return an instant in UTC as a ``time`` element; a script adds the reader's own time."""
    if micros is None or micros >= PARKED:
        return _NO_TIME
    stamp = instant_text(micros)
    shown = stamp.replace("T", " ").removesuffix("Z") if precise else _to_the_second(micros)
    return Markup('<time datetime="{}">{}</time>').format(stamp, shown)


def ago(micros: int | None, now: int | None = None) -> Markup:
    """Return how far an instant is from now, as a ``time`` element that a script keeps right."""
    if micros is None or micros >= PARKED:
        return _NO_TIME
    away = micros - (now_micros() if now is None else now)
    words = t("in {span}") if away > 0 else t("{span} ago")
    told = words.replace("{span}", span_text(abs(away)))
    return Markup('<time class="ago" datetime="{}">{}</time>').format(instant_text(micros), told)


def clock(micros: int) -> str:
    """Return the hour and minute of an instant in UTC."""
    return (_EPOCH + timedelta(microseconds=micros)).strftime("%H:%M")


def day(micros: int) -> str:
    """Return the day of an instant in UTC."""
    return (_EPOCH + timedelta(microseconds=micros)).strftime("%a %d")


def count(number: int | float | None) -> str:
    """Return a number with its thousands apart."""
    return _NEVER if number is None else f"{number:,}"


def size(number: int | None) -> str:
    """Return a number of bytes."""
    if number is None:
        return t("null")
    for step, unit in _STEPS:
        if number >= step:
            return f"{number / step:.1f} {unit}"
    return t("%(n)s bytes", n=number)


def millis(number: float | None) -> str:
    """Return milliseconds as a span."""
    if number is None:
        return _NEVER
    return f"{number:.1f}ms" if 0 < number < 10 else span_text(round(number) * 1_000)


def _to_the_second(micros: int) -> str:
    return instant_text(micros).replace("T", " ").partition(".")[0]
