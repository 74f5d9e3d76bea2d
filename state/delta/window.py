"""The near window: pending rows that fall due soon, in memory, ready to be claimed."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from state.claims import Ints, Room, may_claim, oldest
from state.lines import LINE, LINES
from state.row import (
    DUE,
    ENTRY,
    HASH,
    IDENTITY,
    OCCURRENCE,
    PARKED,
    PAYLOAD,
    ROW,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    STATUS,
    SUPERSEDED,
    Entry,
    Status,
)
from state.select import as_due
from state.version import Coordinates

WINDOW_ROW = pa.schema([*ROW, LINES.field(SUPERSEDED), LINES.field(LINE)])
_STEPS = [
    ENTRY,
    IDENTITY,
    SOURCE_PARTITION,
    SOURCE_OFFSET,
    OCCURRENCE,
    STATUS,
    SUPERSEDED,
    LINE,
]
_REPLACING = frozenset({Entry.PUT, Entry.CANCEL, Entry.CLAIM})
MOST_BYTES = 2**30  # of payloads in one claim: a column of Arrow holds twice that
_Place = tuple[int, int, int]  # partition, offset, occurrence; the identity tells the topic


class Window:
    """Every pending row with due < ``end``; ``beyond`` is at or before the least due of the others.

    Parked rows count for neither.

    Rows lie in Arrow chunks and are named by their slot, counted over all chunks. Taking one out
    only clears its flag; loading the window anew is what frees memory.
    """

    def __init__(self, end: int, beyond: int | None) -> None:
        self.end = end
        self.beyond = beyond
        self._chunks: list[pa.Table] = []
        self._starts: list[int] = []
        self._size = 0
        self._due = np.empty(1024, np.int64)
        self._hash = np.empty(1024, np.int64)
        self._partition = np.empty(1024, np.int64)
        self._offset = np.empty(1024, np.int64)
        self._occurrence = np.empty(1024, np.int64)
        self._bytes = np.empty(1024, np.int64)
        self._alive = np.zeros(1024, np.bool_)
        self._slots: dict[bytes, tuple[int, ...]] = {}  # some no longer alive

    def __len__(self) -> int:
        return int(self._alive[: self._size].sum())

    def __contains__(self, identity: bytes) -> bool:
        return identity in self._slots

    def least(self) -> int | None:
        """Return the least due in the window, None when it is empty."""
        alive = self._due[: self._size][self._alive[: self._size]]
        return int(alive.min()) if len(alive) else None

    def due_by(self, until: int) -> int:
        """Count the rows due at or before an instant."""
        return len(self._due_slots(until))

    def holds(self, identity: bytes, coordinates: Coordinates) -> bool:
        """Tell whether a version is pending here."""
        return self._slot(identity, coordinates[1:]) is not None

    def row(self, identity: bytes, coordinates: Coordinates) -> pa.Table | None:
        """Return the full row of a version pending here."""
        slot = self._slot(identity, coordinates[1:])
        return None if slot is None else self._take(np.array([slot]))

    def add(self, rows: pa.Table) -> None:
        """Take in pending rows, all due before the window's end."""
        first = self._extend(rows)
        for slot, identity in enumerate(rows.column(IDENTITY).to_pylist(), first):
            self._revive(identity, slot)

    def apply(self, lines: pa.Table, rows: pa.Table) -> int:
        """Follow lines of the changelog in order; ``rows`` are the full rows they make pending.

        Return how many rows newer commands have displaced.
        """
        first = self._extend(rows)
        followed = self._spoken_of(lines)
        quiet = lines.column(LINE).to_numpy()[~followed]
        displaced = self._follow(lines.filter(pa.array(followed)), rows, first)
        self._add_new(rows, first, np.isin(rows.column(LINE).to_numpy(), quiet))
        self._watch_beyond(lines)
        return displaced

    def _spoken_of(self, lines: pa.Table) -> npt.NDArray[np.bool_]:
        """Tell which lines are about a key that the window knows, or that others are about too."""
        keys = pc.dictionary_encode(lines.column(IDENTITY).combine_chunks())
        names = keys.dictionary.to_pylist()
        if not names:
            return np.zeros(lines.num_rows, np.bool_)
        codes = pc.fill_null(keys.indices, 0).to_numpy()
        known = np.fromiter(map(self._slots.__contains__, names), np.bool_, len(names))
        known |= np.bincount(codes, minlength=len(names)) > 1
        spoken_of: npt.NDArray[np.bool_] = known[codes]
        return spoken_of

    def _add_new(self, rows: pa.Table, first: int, fresh: npt.NDArray[np.bool_]) -> None:
        """Revive rows of keys that nothing else is said of."""
        slots = first + np.flatnonzero(fresh)
        self._alive[slots] = True
        identities = pc.filter(rows.column(IDENTITY), pa.array(fresh)).to_pylist()
        self._slots.update(zip(identities, zip(slots.tolist(), strict=True), strict=True))

    def _follow(self, lines: pa.Table, rows: pa.Table, first: int) -> int:
        displaced = 0
        if lines.num_rows == 0:
            return displaced
        slots = {line: slot for slot, line in enumerate(rows.column(LINE).to_pylist(), first)}
        for entry, identity, *place, status, superseded, line in _steps(lines):
            if entry in (Entry.CLAIM, Entry.OUTCOME):
                self._kill(identity, (place[0], place[1], place[2]))
            if superseded is not None and status != Status.REPLACED and entry in _REPLACING:
                displaced += self._kill_all(identity)
            if line in slots:
                self._revive(identity, slots[line])
        return displaced

    def due(self, until: int, room: Room) -> tuple[pa.Table, Ints]:
        """Return, in order, the rows due by ``until`` that there is room for, and their slots."""
        slots = self._due_slots(until)
        slots = self._bounded(slots[oldest(self._due[slots], self._hash[slots], room)])
        rows = self._take(slots)
        order = as_due(rows)
        rows = rows.take(order)
        keep = may_claim(rows, room)
        return rows.filter(pa.array(keep)), slots[order.to_numpy()][keep]

    def _bounded(self, slots: Ints) -> Ints:
        """Keep those due first, up to so many bytes; return them in the order of slots."""
        if self._bytes[slots].sum() > MOST_BYTES:
            slots = slots[np.argsort(self._due[slots], kind="stable")]
            slots = slots[: max(int(np.searchsorted(self._bytes[slots].cumsum(), MOST_BYTES)), 1)]
        return np.sort(slots)

    def take_out(self, slots: Ints) -> None:
        """Let go of rows that are claimed."""
        self._alive[slots] = False

    def _extend(self, rows: pa.Table) -> int:
        first, self._size = self._size, self._size + rows.num_rows
        if rows.num_rows == 0:
            return first
        self._grow()
        self._chunks.append(rows.select(WINDOW_ROW.names).combine_chunks())
        self._starts.append(first)
        self._due[first : self._size] = rows.column(DUE).to_numpy()
        self._hash[first : self._size] = rows.column(HASH).to_numpy()
        self._partition[first : self._size] = rows.column(SOURCE_PARTITION).to_numpy()
        self._offset[first : self._size] = rows.column(SOURCE_OFFSET).to_numpy()
        self._occurrence[first : self._size] = rows.column(OCCURRENCE).to_numpy()
        self._bytes[first : self._size] = _lengths(rows.column(PAYLOAD))
        self._alive[first : self._size] = False
        return first

    def _grow(self) -> None:
        if self._size <= len(self._due):
            return
        room = max(self._size, 2 * len(self._due))
        for name in ("_due", "_hash", "_partition", "_offset", "_occurrence", "_bytes", "_alive"):
            setattr(self, name, np.resize(getattr(self, name), room))

    def _revive(self, identity: bytes, slot: int) -> None:
        self._alive[slot] = True
        others = self._slots.get(identity, ())
        self._slots[identity] = (*(s for s in others if self._alive[s] and s != slot), slot)

    def _slot(self, identity: bytes, place: _Place) -> int | None:
        for slot in self._slots.get(identity, ()):
            if self._alive[slot] and self._place(slot) == place:
                return slot
        return None

    def _place(self, slot: int) -> _Place:
        return self._partition[slot], self._offset[slot], self._occurrence[slot]

    def _kill(self, identity: bytes, place: _Place) -> None:
        slot = self._slot(identity, place)
        if slot is not None:
            self._alive[slot] = False

    def _kill_all(self, identity: bytes) -> int:
        alive = [slot for slot in self._slots.pop(identity, ()) if self._alive[slot]]
        self._alive[alive] = False
        return len(alive)

    def _due_slots(self, until: int) -> Ints:
        near = self._alive[: self._size] & (self._due[: self._size] <= until)
        return np.flatnonzero(near)

    def _take(self, slots: Ints) -> pa.Table:
        chunk_of = np.searchsorted(self._starts, slots, side="right") - 1
        parts = [
            self._chunks[c].take(pa.array(slots[chunk_of == c] - self._starts[c]))
            for c in np.unique(chunk_of)
        ]
        return pa.concat_tables([WINDOW_ROW.empty_table(), *parts])

    def _watch_beyond(self, lines: pa.Table) -> None:
        far = pc.and_(_made_pending(lines), pc.greater_equal(lines.column(DUE), self.end))
        far = pc.and_(far, pc.less(lines.column(DUE), PARKED))
        least = pc.min(pc.filter(lines.column(DUE), far)).as_py()
        if least is not None:
            self.beyond = least if self.beyond is None else min(self.beyond, least)


def _lengths(payloads: pa.ChunkedArray) -> Ints:
    lengths: Ints = pc.fill_null(pc.binary_length(payloads), 0).to_numpy()
    return lengths


def added_rows(lines: pa.Table, end: int) -> pa.Table:
    """Return the full lines that make a row pending before the window's end."""
    return lines.filter(pc.and_(_made_pending(lines), pc.less(lines.column(DUE), end)))


def _made_pending(lines: pa.Table) -> pa.ChunkedArray:
    return pc.equal(lines.column(STATUS), Status.PENDING.value)


def _steps(lines: pa.Table) -> Iterator[tuple[Any, ...]]:
    return zip(*(lines.column(name).to_pylist() for name in _STEPS), strict=True)
