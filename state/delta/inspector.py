"""Answers questions about a state in Delta tables, beside the job that writes them."""

from collections.abc import Collection, Iterator, Sequence
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from state.columns import reshape
from state.delta.earlier import moment_of, view_at
from state.delta.overlay import COORDINATES, without_versions
from state.delta.snapshot import is_live_row
from state.delta.tables import Tables, read
from state.delta.view import Nearest, View, view_now
from state.inspector import Filter, Moment, Stats, Waiting
from state.ledger import stats_of
from state.row import CLAIM, DUE, KIND, LIVE, OUTPUT_TOPIC, ROW, STATUS, Status
from state.select import by_due, by_version, expression, first, key_is
from state.tally import Tally
from state.waiting import waiting_by

_LIVE = [*COORDINATES, KIND, STATUS, DUE, OUTPUT_TOPIC]


class DeltaInspector:
    """Reads the tables afresh for each question; of an earlier state, always the same look."""

    keeps_earlier = True

    def __init__(self, tables: Tables) -> None:
        tables.state_id()
        self._tables = tables
        self._fixed: tuple[View, Moment] | None = None

    def rows(self, where: Filter, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the rows that match, in the order asked for."""
        nearest = None if where.limit is None else Nearest(where.limit, where.order)
        found = first(self._view().find(expression(where), where.statuses, nearest), where)
        return found.select(columns or ROW.names)

    def scan(self, where: Filter, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield some columns of the rows that match, a part at a time."""
        return self._view().scan(expression(where), where.statuses, list(columns))

    def tally(
        self, where: Filter, by: Sequence[str], every: int | None = None, of: str = DUE
    ) -> pa.Table:
        """Count the rows that match, reading only what is counted by."""
        counted = Tally(by, every, of)
        for part in self.scan(where, counted.columns):
            counted.add(part)
        return counted.table()

    def versions(
        self, key: bytes, source_topic: str | None = None, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Return every version of a key that is still known, oldest first."""
        found = by_version(self._view().find(key_is(key, source_topic), few=True))
        return found.select(columns or ROW.names)

    def stats(self, now: int) -> Stats:
        """Count."""
        view = self._view()
        snapshot, changed = view.snapshot, view.changed
        base = without_versions(read(snapshot.schedules, _LIVE, is_live_row()), view.names)
        standing = changed.rows(k for k in changed if k.status in LIVE).select(_LIVE)
        live = pa.concat_tables([base.select(_LIVE), standing])
        return stats_of(changed.counts, live, snapshot.last_batch, now, snapshot.paused)

    def waiting(self) -> list[Waiting]:
        """Count the pending messages of each output topic."""
        return waiting_by(self.tally)

    def moment(self) -> Moment:
        """Tell which commit the answers are of."""
        return moment_of(self._view()) if self._fixed is None else self._fixed[1]

    def as_of(self, instant: int) -> Self:
        """Return the state as it was known at an instant."""
        earlier = type(self)(self._tables)
        earlier._fixed = view_at(self._tables, instant)
        return earlier

    def _view(self) -> View:
        return view_now(self._tables) if self._fixed is None else self._fixed[0]


def find(
    tables: Tables,
    where: pc.Expression,
    statuses: Collection[Status] | None = None,
) -> pa.Table:
    """Return the few rows that match, in no order."""
    return view_now(tables).find(where, statuses, few=True)


def claims_made(tables: Tables, batch: int) -> pa.Table:
    """Return the rows that ``batch`` claimed and that still bear its number, as when claimed."""
    rows = find(tables, pc.field(CLAIM) == batch)
    return by_due(reshape(rows, ROW, {STATUS: Status.CLAIMED.value}))
