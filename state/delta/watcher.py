"""Answers questions about a state in Delta tables again and again, from memory where it can."""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from state.cursor import ORDER
from state.delta.inspector import DeltaInspector
from state.delta.light import LIGHT
from state.delta.looking import find, knows, live_groups, tally
from state.delta.tables import Tables
from state.delta.watch import Watch
from state.delta.whole import MOST, whole_rows
from state.inspector import Filter, Inspector, Moment, Stats, Waiting
from state.ledger import stats_of_live
from state.row import CHANGED_AT, DUE, ROW
from state.select import by_version, first
from state.waiting import waiting_by

_LIGHT = [name for name in ROW.names if name in LIGHT.names]


class DeltaWatcher:
    """An inspector for a process that lives long; it holds the light columns of all live rows.

    Where memory does not have the answer (it is not loaded yet, there are too many rows, or all
    payloads are asked for), the files are read as DeltaInspector does.
    """

    keeps_earlier = True

    def __init__(self, tables: Tables, watch: Watch | None = None) -> None:
        self._plain = DeltaInspector(tables)
        self._watch = watch or Watch(tables)

    def rows(self, where: Filter, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the rows that match, in the order asked for."""
        found = self._rows(where, columns)
        return self._plain.rows(where, columns) if found is None else found

    def scan(self, where: Filter, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield some columns of the rows that match."""
        current = self._watch.current() if knows(where, columns) else None
        found = None if current is None else find(current, where, columns)
        return self._plain.scan(where, columns) if found is None else iter([found])

    def tally(
        self, where: Filter, by: Sequence[str], every: int | None = None, of: str = DUE
    ) -> pa.Table:
        """Count the rows that match."""
        current = self._watch.current()
        counted = None if current is None else tally(current, where, by, every, of)
        return self._plain.tally(where, by, every, of) if counted is None else counted

    def versions(
        self, key: bytes, source_topic: str | None = None, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Return every version of a key that is still known, oldest first."""
        found = self._rows(Filter(key=key, source_topic=source_topic, kind=None), columns)
        if found is None:
            return self._plain.versions(key, source_topic, columns)
        return by_version(found)

    def stats(self, now: int) -> Stats:
        """Count."""
        current = self._watch.current()
        if current is None:
            return self._plain.stats(now)
        clock, live = current.clock, live_groups(current)
        return stats_of_live(current.counts, live, clock.batch, now, clock.paused)

    def waiting(self) -> list[Waiting]:
        """Count the pending messages of each output topic."""
        return waiting_by(self.tally)

    def moment(self) -> Moment:
        """Tell which commit the answers are of."""
        current = self._watch.current()
        return self._plain.moment() if current is None else Moment(current.clock.at)

    def as_of(self, instant: int) -> Inspector:
        """Return the state as it was known at an instant; it is not held in memory."""
        return self._plain.as_of(instant)

    def wait(self) -> None:
        """Wait until what is to be held in memory is."""
        self._watch.current()
        self._watch.wait()

    def _rows(self, where: Filter, columns: Sequence[str] | None) -> pa.Table | None:
        wanted = ROW.names if columns is None else list(columns)
        is_light = knows(where, wanted)
        read = list(dict.fromkeys([*wanted, *ORDER, CHANGED_AT])) if is_light else _LIGHT
        current = self._watch.current()
        found = None if current is None else find(current, where, read)
        if current is None or found is None:
            return None
        found = first(found, where)
        if is_light:
            return found.select(wanted)
        if found.num_rows > MOST:
            return None
        whole = whole_rows(current, found, self._watch.changelog)
        return None if whole is None else whole.select(wanted)
