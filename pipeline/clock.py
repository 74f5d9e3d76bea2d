"""The wall clock in microseconds, and how instants are written.

Decisions that must replay after a crash use the batch's time instead of this clock.
"""

import time
from datetime import UTC, datetime, timedelta

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
    instant = _EPOCH + timedelta(microseconds=micros)
    return instant.isoformat(timespec=precision).replace("+00:00", "Z")
