"""Counts for each metric of the catalogue: quick to add to by the thousand, from any thread."""

import math
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from pipeline.observe.catalogue import METRICS, Metric, MetricKind

MOST_SETS = 1_000  # of attributes, in one metric; what comes beyond is counted together
OVERFLOW = (("otel.metric.overflow", "true"),)

Attributes = tuple[tuple[str, str], ...]
Reading = Callable[[], float | None]  # a gauge that is looked at when somebody asks


@dataclass(slots=True)
class Sizes:
    """How many values fell into each bucket of a histogram."""

    counts: np.ndarray
    sum: float = 0.0
    least: float = math.inf
    most: float = -math.inf


@dataclass(frozen=True, slots=True)
class Tallied:
    """A metric as it stands: a number, or the sizes of a histogram, for each set of attributes."""

    metric: Metric
    numbers: dict[Attributes, float] = field(default_factory=dict)
    sizes: dict[Attributes, Sizes] = field(default_factory=dict)


class Tallies:
    """All metrics."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept = {metric.name: Tallied(metric) for metric in METRICS}
        self._bounds = {m.name: np.array(m.bounds) for m in METRICS if m.bounds}
        self._readings: dict[str, Reading] = {}
        for kept in self._kept.values():
            if kept.metric.kind is MetricKind.COUNTER and not kept.metric.attributes:
                kept.numbers[()] = 0  # a counter that is not there cannot be seen to grow

    def add(self, metric: Metric, count: float, **attributes: str) -> None:
        """Add to a counter."""
        with self._lock:
            numbers = self._kept[metric.name].numbers
            named = _within(numbers, tuple(attributes.items()))
            numbers[named] = numbers.get(named, 0) + count

    def set(self, metric: Metric, value: float | None, **attributes: str) -> None:
        """Say where a gauge stands, or a counter that somebody else keeps; None: nowhere."""
        with self._lock:
            numbers = self._kept[metric.name].numbers
            named = _within(numbers, tuple(attributes.items()))
            if value is None:
                numbers.pop(named, None)
            else:
                numbers[named] = value

    def ask(self, metric: Metric, reading: Reading) -> None:
        """Have a gauge looked at whenever it is wanted."""
        with self._lock:
            self._readings[metric.name] = reading

    def record(self, metric: Metric, values: "np.ndarray | list[float]", **attributes: str) -> None:
        """Add values to a histogram."""
        given = np.asarray(values, np.float64)
        if not len(given):
            return
        bounds = self._bounds[metric.name]
        places = np.searchsorted(bounds, given, side="left")
        counts = np.bincount(places, minlength=len(bounds) + 1)
        with self._lock:
            sizes = self._kept[metric.name].sizes
            named = _within(sizes, tuple(attributes.items()))
            kept = sizes.setdefault(named, Sizes(np.zeros(len(bounds) + 1, np.int64)))
            kept.counts += counts
            kept.sum += float(given.sum())
            kept.least = min(kept.least, float(given.min()))
            kept.most = max(kept.most, float(given.max()))

    def all(self) -> Iterator[Tallied]:
        """Yield every metric as it stands now."""
        for name, reading in list(self._readings.items()):
            self.set(self._kept[name].metric, reading())
        for kept in self._kept.values():
            with self._lock:
                sizes = {
                    named: Sizes(each.counts.copy(), each.sum, each.least, each.most)
                    for named, each in kept.sizes.items()
                }
                yield Tallied(kept.metric, dict(kept.numbers), sizes)


def _within(known: Mapping[Attributes, object], named: Attributes) -> Attributes:
    return named if named in known or len(known) < MOST_SETS else OVERFLOW
