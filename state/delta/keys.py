"""Answers what is pending of given keys, exact as of the last commit."""

import threading
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from state.admission import coordinates_of, versions_of
from state.columns import reshape
from state.delta.few import read_few
from state.delta.inspector import find
from state.delta.key_index import KeyIndex, folder_of, make_index, newest_file
from state.delta.key_part import LIVE_ROW
from state.delta.layout import CHANGELOG, SCHEDULES
from state.delta.snapshot import is_live_row
from state.delta.tables import Tables, read
from state.delta.tail import TAIL_ROW, Place, Tail, rows_at
from state.fields import bytes_in, text_in, text_is
from state.lines import LINE, SEQ
from state.pausing import Paused
from state.pending import PENDING
from state.row import DUE, IDENTITY, OUTPUT_TOPIC, PARKED, ROW, STATUS, Status


class Keys:
    """Looks keys up in what is in memory, and the rest in ``schedules`` by its index."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._index: KeyIndex | None = None
        self._seen: Path | None = None  # the newest file that was looked at
        self._made_since = -1
        self._maker: threading.Thread | None = None

    def pending(self, tail: Tail, identities: Sequence[bytes], whole: bool) -> pa.Table:
        """Return the pending versions of keys (state.row.ROW)."""
        named = list(dict.fromkeys(identities))
        rows = self._light(tail, named)
        return self._with_content(rows) if whole else reshape(rows, ROW, {STATUS: PENDING})

    def parked(self, tail: Tail, paused: Paused, most: int) -> tuple[pa.Table, bool]:
        """Return rows that are parked and not paused, and whether there may be more of them."""
        recent = rows_at(tail.places())
        recent = recent.filter(pc.equal(recent.column(DUE), PARKED))
        recent = recent.filter(pa.array(~paused.held(recent))).slice(0, most)
        near = self._with_content(recent)
        far = self._parked_for_long(paused, most + len(tail))
        stand = [tail.is_silent(i, v.coordinates) for i, v in versions_of(far)]
        rows = pa.concat_tables([near, far.filter(pa.array(stand, pa.bool_()))])
        rows = rows.filter(pa.array(~paused.held(rows)))
        return rows.slice(0, most), rows.num_rows >= most

    def _parked_for_long(self, paused: Paused, most: int) -> pa.Table:
        where = is_live_row() & (pc.field(DUE) == PARKED) & text_is(STATUS, PENDING)
        if paused.topics:
            where &= ~text_in(OUTPUT_TOPIC, sorted(paused.topics))
        found = self._tables.dataset(SCHEDULES).scanner(ROW.names, filter=where).head(most)
        return reshape(found, ROW)

    def wait(self) -> None:
        """Wait for an index that is being made."""
        if self._maker is not None:
            self._maker.join()

    def _light(self, tail: Tail, identities: Sequence[bytes]) -> pa.Table:
        told = [tail.of(identity) for identity in identities]
        places: list[Place] = [
            place for _, versions in told for place in versions.values() if place is not None
        ]
        asked = [i for i, (cleared, _) in zip(identities, told, strict=True) if not cleared]
        rows = self.live(asked, tail.since)
        rows = rows.filter(pc.equal(rows.column(STATUS), PENDING))
        overridden = {name for _, versions in told for name in versions}
        stand = [name not in overridden for name in coordinates_of(rows)]
        rows = rows.filter(pa.array(stand, pa.bool_()))
        return pa.concat_tables([reshape(rows, TAIL_ROW), rows_at(places)])

    def live(self, identities: Sequence[bytes], since: int) -> pa.Table:
        """Return what ``schedules`` holds of keys (LIVE_ROW), of any fold at or after ``since``."""
        if not identities:
            return LIVE_ROW.empty_table()
        index = self._current(since)
        if index is not None:
            return index.find(identities)
        self._make_index(since)
        return reshape(self._scan(LIVE_ROW.names, identities, is_live_row()), LIVE_ROW)

    def _current(self, since: int) -> KeyIndex | None:
        newest = newest_file(folder_of(self._tables))
        if newest is not None and newest != self._seen:
            self._seen = newest
            try:
                index = KeyIndex(newest)
            except (OSError, ValueError):  # gone, or not ours
                return None
            if index.is_of(self._tables.open(SCHEDULES)):
                self._index = index
        return self._index if self._index is not None and self._index.seq >= since else None

    def _make_index(self, since: int) -> None:
        """Begin to make an index, once for each fold: the next fold makes one itself."""
        if since == self._made_since or (self._maker is not None and self._maker.is_alive()):
            return
        self._made_since = since
        self._seen = None  # it may take the place of one that is of no use
        self._maker = threading.Thread(
            target=make_index, args=(self._tables,), name="keys", daemon=True
        )
        self._maker.start()

    def _scan(
        self, columns: list[str], identities: Sequence[bytes], where: pc.Expression
    ) -> pa.Table:
        named = bytes_in(IDENTITY, pa.array(identities, pa.binary()))
        return read_few(self._tables.dataset(SCHEDULES), columns, where & named)

    def _with_content(self, rows: pa.Table) -> pa.Table:
        """Read what is too large for memory where each row is; a fold may be moving them."""
        wanted = set(coordinates_of(rows))
        from_tail = pc.is_valid(rows.column(LINE))
        found = pa.concat_tables(
            [
                self._from_changelog(rows.filter(from_tail)),
                self._from_schedules(rows.filter(pc.invert(from_tail))),
            ]
        )
        found = found.filter(pa.array([c in wanted for c in coordinates_of(found)], pa.bool_()))
        if len(set(coordinates_of(found))) == found.num_rows == len(wanted):
            return found
        identities = rows.column(IDENTITY).combine_chunks()
        everything = find(self._tables, bytes_in(IDENTITY, identities), [Status.PENDING])
        is_pending = pc.equal(everything.column(STATUS), PENDING)
        return everything.filter(is_pending)

    def _from_changelog(self, rows: pa.Table) -> pa.Table:
        if rows.num_rows == 0:
            return ROW.empty_table()
        where = _among(SEQ, rows) & _among(LINE, rows)
        return reshape(read(self._tables.dataset(CHANGELOG), ROW.names, where), ROW)

    def _from_schedules(self, rows: pa.Table) -> pa.Table:
        if rows.num_rows == 0:
            return ROW.empty_table()
        identities = rows.column(IDENTITY).to_pylist()
        pending = is_live_row() & text_is(STATUS, PENDING) & _among(DUE, rows)
        return reshape(self._scan(ROW.names, identities, pending), ROW)


def _among(name: str, rows: pa.Table) -> pc.Expression:
    """Return the expression by which files and parts of them are left out."""
    values = pc.unique(rows.column(name))
    bounds = (pc.field(name) >= pc.min(values)) & (pc.field(name) <= pc.max(values))
    return bounds & pc.field(name).isin(values)
