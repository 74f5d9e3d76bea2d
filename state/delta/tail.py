"""Knows what the changelog has made pending since the last fold but one, key by key.

Kept only once somebody has asked what is pending of a key. What is not named here is as
``schedules`` says, whichever fold since ``since`` it is from.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from state.admission import coordinates_of
from state.delta.snapshot import look
from state.delta.tables import Tables, read
from state.lines import LINE, SEQ
from state.pending import LIGHT_ROW, PENDING
from state.row import ENTRY, IDENTITY, STATUS, SUPERSEDED, Entry, Status
from state.version import Coordinates

TAIL_ROW = pa.schema([*LIGHT_ROW, pa.field(SEQ, pa.int64()), pa.field(LINE, pa.int64())])
_STEPS = [ENTRY, IDENTITY, STATUS, SUPERSEDED]
_COLUMNS = [ENTRY, STATUS, SUPERSEDED, *TAIL_ROW.names]
_REPLACING = frozenset({Entry.PUT, Entry.CANCEL, Entry.CLAIM})

Place = tuple[pa.Table, int]  # a table of light rows, and the row


@dataclass(slots=True)
class _Key:
    """What became of one key: versions that are pending, and those that are not any more."""

    cleared: bool = False  # nothing else of it is pending
    versions: dict[Coordinates, Place | None] = field(default_factory=dict)


class Tail:
    """Follows the lines of every commit after ``since``."""

    def __init__(self, since: int) -> None:
        self.since = since
        self._turned_at = since  # the last commit of the older half
        self._old: dict[bytes, _Key] = {}
        self._new: dict[bytes, _Key] = {}

    def add(self, lines: pa.Table) -> None:
        """Follow the lines of one commit, or of several, in order."""
        rows = lines.select(TAIL_ROW.names)
        columns = [lines.column(name).to_pylist() for name in _STEPS]
        for place, (name, entry, identity, status, superseded) in enumerate(
            zip(coordinates_of(lines), *columns, strict=True)
        ):
            if entry == Entry.CLOCK or entry == Entry.IGNORED:
                continue
            key = self._new.setdefault(identity, _Key())
            if superseded is not None and status != Status.REPLACED and entry in _REPLACING:
                key.cleared = True
                key.versions.clear()
            key.versions[name] = (rows, place) if status == PENDING else None

    def folded(self, upto: int, newest: int) -> None:
        """Let go of the older half once a fold up to ``upto`` has it."""
        if upto < self._turned_at:
            return
        self.since, self._turned_at = self._turned_at, newest
        self._old, self._new = self._new, {}

    def __len__(self) -> int:
        return sum(len(key.versions) for half in self._halves() for key in half.values())

    def places(self) -> list[Place]:
        """Return where every row is that is pending."""
        identities = {identity for half in self._halves() for identity in half}
        told = (self.of(identity)[1].values() for identity in identities)
        return [place for versions in told for place in versions if place is not None]

    def is_silent(self, identity: bytes, name: Coordinates) -> bool:
        """Tell whether nothing was said of a version since it was folded."""
        cleared, versions = self.of(identity)
        return not cleared and name not in versions

    def _halves(self) -> tuple[dict[bytes, _Key], dict[bytes, _Key]]:
        return self._old, self._new

    def of(self, identity: bytes) -> tuple[bool, dict[Coordinates, Place | None]]:
        """Return whether all there is of a key is told here, and its versions."""
        new, old = self._new.get(identity), self._old.get(identity)
        if old is None or (new is not None and new.cleared):
            return (False, {}) if new is None else (new.cleared, new.versions)
        return old.cleared, old.versions | ({} if new is None else new.versions)


def tail_of(tables: Tables) -> Tail:
    """Follow the changelog from the last fold on."""
    snapshot = look(tables)
    tail = Tail(snapshot.mark.seq)
    lines = read(snapshot.changelog, _COLUMNS, pc.field(SEQ) > snapshot.mark.seq)
    tail.add(lines.sort_by(LINE).slice(0, snapshot.tail.num_rows))
    return tail


def rows_at(places: Iterable[Place]) -> pa.Table:
    """Return light rows (TAIL_ROW) from where they are."""
    by_table: dict[int, tuple[pa.Table, list[int]]] = {}
    for table, place in places:
        by_table.setdefault(id(table), (table, []))[1].append(place)
    parts = (table.take(pa.array(some, pa.int64())) for table, some in by_table.values())
    return pa.concat_tables([TAIL_ROW.empty_table(), *_cast(parts)])


def _cast(parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
    return (part if part.schema == TAIL_ROW else part.cast(TAIL_ROW) for part in parts)
