"""Judges by numbers whether something grew in the last half of a soak without levelling off.

A straight line is laid through the samples of the last half, by the median of the slopes between
all pairs of them (Theil-Sen), which a few outliers do not turn. It *grows* if the rise of that line
over the half is more than SHARE of its middle, and more than NOISE times the spread around it (the
median distance of samples from the line). So a slower growth, or one hidden in the noise, is not
found: a longer soak is the only way to find it. What is late, or long, because something was killed
is an outlier here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SHARE = 0.2
NOISE = 3.0
FEWEST = 8  # samples; with fewer nothing is said
WARM = 45.0  # seconds; the memory of a job is looked at once its life is older than this
_OF_A_LIFE = ("python_mb", "jvm_mb", "heap_mb")
JUDGED = {
    "python_mb": "memory of Python, MB",
    "jvm_mb": "memory of the JVM, MB",
    "heap_mb": "what lives in the heap of the JVM, MB",
    "files": "files of the state",
    "state_mb": "bytes of the state, without what is closed, MB",
    "closed_bytes": "bytes on disk for each closed message",
    "log_files": "files of the Delta logs",
    "log_mb": "bytes of the Delta logs, MB",
    "checkpoint_files": "files of Spark's checkpoint",
    "tick_p50_ms": "tick p50, ms",
    "tick_p95_ms": "tick p95, ms",
    "pending": "pending",
    "late_p99_ms": "lateness p99, ms",
}

Sample = dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Trend:
    """What the last half of one series of samples did."""

    samples: int
    middle: float
    rise: float  # of the line, over the half
    noise: float  # median distance of the samples from the line

    @property
    def grows(self) -> bool:
        """Whether it rises beyond the bounds."""
        enough = self.samples >= FEWEST
        return enough and self.rise > SHARE * abs(self.middle) and self.rise > NOISE * self.noise

    @property
    def said(self) -> str:
        """The verdict in words."""
        if self.samples < FEWEST:
            return "too few samples"
        return "grows" if self.grows else "no growth seen"


def trend(seconds: Sequence[float], values: Sequence[float]) -> Trend:
    """Lay the line through values at these seconds."""
    if len(values) < 2:
        return Trend(len(values), values[0] if values else 0.0, 0.0, 0.0)
    x, y = np.array(seconds, float), np.array(values, float)
    one, other = np.triu_indices(len(x), 1)
    slope = float(np.median((y[other] - y[one]) / (x[other] - x[one])))
    around = y - slope * x
    noise = float(np.median(np.abs(around - np.median(around))))
    return Trend(len(y), float(np.median(y)), slope * float(x[-1] - x[0]), noise)


def verdict(samples: Sequence[Sample], until: float, store: str) -> dict[str, Trend]:
    """Judge each series over the second half of a load of ``until`` seconds."""
    half = [s for s in samples if until / 2 <= (s["second"] or 0.0) <= until]
    return {name: _judge(name, half) for name in JUDGED if name not in _left_out(until, store)}


def _left_out(until: float, store: str) -> tuple[str, ...]:
    """Name what is not judged: a database has no logs of Delta, and keeps closed rows an hour.

    On Delta closed rows are dropped by the day, so what they take rises for longer than a soak; it
    is looked at by the message, and the rest without them.
    """
    if store == "delta":
        return ()
    more = ("files", "state_mb") if until < _LEVELS_BY else ()
    return ("log_files", "log_mb", "closed_bytes", *more)


_LEVELS_BY = 2 * 3600.0  # the last half then begins after the first row was purged


def _judge(name: str, half: Sequence[Sample]) -> Trend:
    fit = [s for s in half if s[name] is not None]
    if name in _OF_A_LIFE:
        fit = [s for s in fit if (s["life"] or 0.0) >= WARM]
    return trend([s["second"] or 0.0 for s in fit], [s[name] or 0.0 for s in fit])
