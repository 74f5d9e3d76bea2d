"""The wall clock in microseconds, spans of it, and how instants are written.

Decisions that must replay after a crash use the batch's time instead of this clock.
"""

import time
from datetime import UTC, datetime, timedelta

from state.errors import ConfigError

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def now_micros() -> int:
    """Return microseconds since the epoch."""
    return time.time_ns() // 1_000


def micros_of(instant: datetime) -> int:
    """Return an instant in microseconds; ConfigError where its time zone is not said."""
    if instant.tzinfo is None:
        raise ConfigError(
            f"{instant.isoformat()} has no time zone; say it, such as "
            f"datetime.fromisoformat('{instant.isoformat()}Z')"
        )
    return (instant - _EPOCH) // timedelta(microseconds=1)


def instant_text(micros: int) -> str:
    """Write an instant in UTC, to the millisecond."""
    return _text(micros, "milliseconds")


def exact_text(micros: int) -> str:
    """Write an instant in UTC, to the microsecond."""
    return _text(micros, "microseconds")


def _text(micros: int, precision: str) -> str:
    try:
        instant = _EPOCH + timedelta(microseconds=micros)
    except OverflowError:  # a calendar has no such day, but an event may name it
        return f"{micros} microseconds after 1970"
    return instant.isoformat(timespec=precision).replace("+00:00", "Z")
