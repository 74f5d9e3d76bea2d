"""Says which of the rows that are due a batch claims: so many of each lane, the oldest first."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from state.row import DUE, HASH, OUTPUT_TOPIC

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Room:
    """How many rows may be claimed; a row's lane is its hash modulo the number of lanes."""

    lanes: tuple[int, ...]
    backlog_before: int = 0  # rows due before this instant are backlog
    quotas: Mapping[str, int] = field(default_factory=dict)  # backlog rows of an output topic

    @property
    def total(self) -> int:
        """How many rows may be claimed in all."""
        return sum(self.lanes)

    def at_most(self, rows: int) -> "Room":
        """Return the room for so many rows in all, shared out evenly among the lanes."""
        if self.total <= rows:
            return self
        lanes = list(self.lanes)
        left = rows
        for dealt, lane in enumerate(sorted(range(len(lanes)), key=self.lanes.__getitem__)):
            lanes[lane] = min(lanes[lane], left // (len(lanes) - dealt))
            left -= lanes[lane]
        return replace(self, lanes=tuple(lanes), quotas=self._quotas_within(rows))

    def _quotas_within(self, rows: int) -> dict[str, int]:
        """Leave half of the rows to what is no backlog, which is younger and would come last."""
        most = max(1, rows // (2 * len(self.quotas) or 1))
        return {topic: min(quota, most) for topic, quota in self.quotas.items()}


def oldest(dues: Ints, hashes: Ints, room: Room) -> Ints:
    """Return the places of all rows that may have to be claimed; there may be more of them."""
    places = np.arange(len(dues))
    if len(dues) <= min(room.lanes) or room.quotas:
        return places
    lanes = hashes % len(room.lanes)
    kept = [_least(places[lanes == lane], dues, most) for lane, most in enumerate(room.lanes)]
    return np.concatenate(kept)


def within(rows: pa.Table, room: Room) -> pa.Table:
    """Keep of rows in the order of their release as many as there is room for."""
    keep = may_claim(rows, room)
    return rows if keep.all() else rows.filter(pa.array(keep))


def may_claim(rows: pa.Table, room: Room) -> npt.NDArray[np.bool_]:
    """Tell of rows in the order of their release for which there is room."""
    keep = _within_quotas(rows, room)
    lanes = rows.column(HASH).to_numpy() % len(room.lanes)
    for lane, most in enumerate(room.lanes):
        keep[np.flatnonzero(keep & (lanes == lane))[most:]] = False
    return keep


def _least(places: Ints, dues: Ints, most: int) -> Ints:
    if len(places) <= most:
        return places
    if most == 0:
        return places[:0]
    last = np.partition(dues[places], most - 1)[most - 1]
    least: Ints = places[dues[places] <= last]
    return least


def _within_quotas(rows: pa.Table, room: Room) -> npt.NDArray[np.bool_]:
    keep = np.ones(rows.num_rows, np.bool_)
    if not room.quotas:
        return keep
    topics = np.array(rows.column(OUTPUT_TOPIC).to_pylist(), object)
    backlog = rows.column(DUE).to_numpy() < room.backlog_before
    for topic, most in room.quotas.items():
        keep[np.flatnonzero(backlog & (topics == topic))[most:]] = False
    return keep
