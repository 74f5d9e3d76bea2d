"""Writes instants and durations as events have them; what cannot be is refused by its name."""

from datetime import UTC, datetime, timedelta

from state.duration import parse_duration
from state.errors import DuestreamError


class ScheduleError(DuestreamError):
    """What was to be scheduled, or ordered, is not complete or contradicts itself."""


def rfc3339(instant: datetime, name: str) -> str:
    """Write an instant in UTC; ``name`` is told when it has no time zone."""
    if not isinstance(instant, datetime):
        raise ScheduleError(
            f"{name}: {instant!r} is no datetime; give one such as datetime.now(UTC)"
        )
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


def duration(span: timedelta | str, name: str) -> str:
    """Write a span of time; a text is taken as it is, if it is one."""
    if isinstance(span, timedelta):
        return _iso(span, name)
    try:
        if isinstance(span, str):
            parse_duration(span)
            return span
    except ValueError as error:
        raise ScheduleError(f"{name}: {error}") from error
    raise ScheduleError(f"{name}: {span!r} has no unit; give a timedelta, or text such as 15m")


def _iso(span: timedelta, name: str) -> str:
    micros = span // timedelta(microseconds=1)
    if micros < 0:
        raise ScheduleError(f"{name}: is below zero; give 0s or more")
    fraction = f".{micros % 1_000_000:06d}".rstrip("0").rstrip(".")
    return f"PT{micros // 1_000_000}{fraction}S"
