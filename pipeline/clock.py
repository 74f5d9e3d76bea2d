"""The wall clock in microseconds; decisions that must replay after a crash use the batch's time."""

import time


def now_micros() -> int:
    """Return microseconds since the epoch."""
    return time.time_ns() // 1_000
