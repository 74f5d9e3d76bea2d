"""One look at the three tables: as they are now, or as they were at an earlier commit."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from state.columns import reshape
from state.cursor import Order
from state.delta.few import read_few
from state.delta.layout import HISTORY
from state.delta.mark import Mark
from state.delta.overlay import ROW_SEQ, Overlay, overlay, without_versions
from state.delta.snapshot import Snapshot, is_live_row, look
from state.delta.tables import Tables, parts, read
from state.lines import SEQ
from state.row import (
    CLOSED,
    LIVE,
    OCCURRENCE,
    ROW,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TOPIC,
    Status,
)
from state.version import Coordinates

_COORDINATES = [SOURCE_TOPIC, SOURCE_PARTITION, SOURCE_OFFSET, OCCURRENCE]


@dataclass(frozen=True, slots=True)
class Nearest:
    """How many rows are wanted, and in which order."""

    count: int
    order: Order

    def bound(self, data: ds.Dataset, where: pc.Expression, left_out: int) -> pc.Expression:
        """Return the expression that the nearest fulfil, also when some are left out of them."""
        name = self.order.instant
        instants = read(data, [name], where).column(name).to_numpy()
        place = self.count + left_out
        if len(instants) <= place:
            return pc.scalar(True)
        if self.order.descends:
            return pc.field(name) >= int(-np.partition(-instants, place)[place])
        return pc.field(name) <= int(np.partition(instants, place)[place])


@dataclass(frozen=True)
class View:
    """A snapshot, and the closed rows that go with it."""

    snapshot: Snapshot
    history: Callable[[], ds.Dataset]  # opened only when it is asked for, and after the snapshot

    @cached_property
    def changed(self) -> Overlay:
        """What the changelog's tail has changed."""
        return overlay(self.snapshot)

    @cached_property
    def names(self) -> set[Coordinates]:
        """The versions that the tail speaks of."""
        return {known.coordinates for known in self.changed}

    def find(
        self,
        where: pc.Expression,
        statuses: Iterable[Status] | None = None,
        nearest: Nearest | None = None,
        few: bool = False,
    ) -> pa.Table:
        """Return the rows that match, in no order; all of them, or at least the nearest.

        ``few`` of the rows are sure to match: then files are not read whole.
        """
        wanted = set(Status) if statuses is None else set(statuses)
        found = [self.changed.rows(self.changed).filter(where)]
        if wanted & LIVE:
            found.append(self._standing(where, nearest, few))
        if wanted & CLOSED:
            found.append(self._closed(where, nearest, few))
        return pa.concat_tables([reshape(part, ROW) for part in found])

    def scan(
        self, where: pc.Expression, statuses: Iterable[Status] | None, columns: list[str]
    ) -> Iterator[pa.Table]:
        """Yield columns of the rows that match, in no order, a part at a time."""
        wanted = set(Status) if statuses is None else set(statuses)
        kept = pa.schema([ROW.field(name) for name in columns])
        yield reshape(self.changed.rows(self.changed).filter(where), kept)
        needed = list(dict.fromkeys([*columns, *_COORDINATES, SEQ]))
        if wanted & LIVE:
            for part in parts(self.snapshot.schedules, needed, where & is_live_row()):
                yield reshape(without_versions(part, self.names), kept)
        if wanted & CLOSED:
            for part in parts(self.history(), needed, where & self._folded()):
                yield reshape(self._not_outdated(part), kept)

    def _standing(self, where: pc.Expression, nearest: Nearest | None, few: bool) -> pa.Table:
        rows = self._read(self.snapshot.schedules, where & is_live_row(), nearest, few)
        return without_versions(rows, self.names)

    def _closed(self, where: pc.Expression, nearest: Nearest | None, few: bool) -> pa.Table:
        rows = self._read(self.history(), where & self._folded(), nearest, few)
        return self._not_outdated(rows)

    def _read(
        self, data: ds.Dataset, where: pc.Expression, nearest: Nearest | None, few: bool
    ) -> pa.Table:
        if nearest is not None:
            left_out = len(self.names) + len(self.snapshot.mark.outdated)
            where = where & nearest.bound(data, where, left_out)
        return (read_few if few else read)(data, ROW_SEQ.names, where)

    def _folded(self) -> pc.Expression:
        # A row newer than the mark belongs to a fold that is not finished; the tail still has it.
        return pc.field(SEQ) <= self.snapshot.mark.seq

    def _not_outdated(self, closed: pa.Table) -> pa.Table:
        return not_outdated(without_versions(closed, self.names), self.snapshot.mark)


def view_now(tables: Tables) -> View:
    """Take a look at the state as it is now."""
    return View(look(tables), lambda: tables.dataset(HISTORY))


def not_outdated(closed: pa.Table, mark: Mark) -> pa.Table:
    """Leave out closed rows that a later outcome has corrected."""
    for topic, partition, offset, occurrence, seq in mark.outdated:
        outdated = (
            (pc.field(SOURCE_TOPIC) == topic)
            & (pc.field(SOURCE_PARTITION) == partition)
            & (pc.field(SOURCE_OFFSET) == offset)
            & (pc.field(OCCURRENCE) == occurrence)
            & (pc.field(SEQ) < seq)
        )
        closed = closed.filter(~outdated)
    return closed
