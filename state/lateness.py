"""Tells how late messages went out."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from state.clock import MINUTE
from state.inspector import Filter, Inspector
from state.row import OUTPUT_TOPIC, PUBLISHED_AT, SCHEDULED, SOURCE_TIMESTAMP, Status

Ints = npt.NDArray[np.int64]

_COLUMNS = [PUBLISHED_AT, SCHEDULED, SOURCE_TIMESTAMP, OUTPUT_TOPIC]
_SETTLED_WITHIN = 10 * MINUTE
_FINE = 1.01  # the width of a class of the distribution: figures are right to one per cent
_FINEST = 100  # microseconds; what is less late than this counts as that
_CLASSES = 3_000  # up to some decades of years
_EDGES = _FINEST * _FINE ** np.arange(_CLASSES)
_DECADES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 60_000, 3_600_000]
_STEPS = np.array(_DECADES) * 1_000


@dataclass(frozen=True, slots=True)
class Lateness:
    """How late messages went out, in milliseconds; shares are right to one per cent."""

    count: int
    early: int  # out before their instant: never above zero
    longest: float
    steps: tuple[int, ...]  # how many are late by up to each of the steps of ``table``
    classes: tuple[int, ...]  # how many are late by the n-th class, each one per cent wide

    def share(self, of: float) -> float:
        """Return by how much the given share of all messages (0.5, 0.99) was late at most."""
        if self.count == 0:
            return 0.0
        place = int(np.searchsorted(np.cumsum(self.classes), of * self.count))
        return float(min(_EDGES[min(place, _CLASSES - 1)] / 1_000, self.longest))

    def table(self) -> pa.Table:
        """Return the distribution in a few steps: late by up to so many ms, so many messages."""
        upto = [*map(float, _DECADES), None]
        return pa.table(
            {"up_to_ms": pa.array(upto, pa.float64()), "messages": pa.array(self.steps)}
        )


def lateness(inspector: Inspector, since: int, topic: str | None = None) -> Lateness:
    """Return how late what was published since an instant went out.

    Late is counted from the instant asked for, or from the record where that came later. Only what
    has a receipt and is still known counts: closed rows are forgotten after state.keep_closed.
    """
    counted: Ints = np.zeros(_CLASSES, np.int64)
    steps: Ints = np.zeros(len(_STEPS) + 1, np.int64)
    early, longest, count = 0, 0, 0
    for late in _late(inspector, since, topic):
        places = np.searchsorted(_EDGES, late)
        counted += np.bincount(np.minimum(places, _CLASSES - 1), minlength=_CLASSES)
        steps += np.bincount(np.searchsorted(_STEPS, late), minlength=len(steps))
        early += int((late < 0).sum())
        longest = max(longest, int(late.max()))
        count += len(late)
    return Lateness(count, early, longest / 1_000, tuple(steps.tolist()), tuple(counted.tolist()))


def _late(inspector: Inspector, since: int, topic: str | None) -> Iterator[Ints]:
    done = Filter(statuses=[Status.DONE], output_topic=topic, changed_from=since - _SETTLED_WITHIN)
    for rows in inspector.scan(done, _COLUMNS):
        out = rows.filter(pc.field(PUBLISHED_AT) >= since)  # null where the receipt was lost
        asked = pc.max_element_wise(out.column(SCHEDULED), out.column(SOURCE_TIMESTAMP))
        late = pc.subtract(out.column(PUBLISHED_AT), asked)
        if out.num_rows:
            yield np.asarray(late.to_numpy(), np.int64)
