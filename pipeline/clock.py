"""The wall clock in microseconds, and how instants are written.

Decisions that must replay after a crash use the batch's time instead of this clock.
"""

import time
from datetime import UTC, datetime, timedelta

# How far ahead a message may be due, in microseconds: about 100 years. What lies further ahead was
# almost surely meant in another unit.
FARTHEST = 36_525 * 86_400_000_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def now_micros() -> int:
    """Return microseconds since the epoch."""
    return time.time_ns() // 1_000


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
