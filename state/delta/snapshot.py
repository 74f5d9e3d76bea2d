"""Takes one consistent look at the tables, also while a fold is at work on them.

The changelog is looked at first, then ``schedules``: whatever a fold has trimmed from the changelog
since is then in ``schedules`` already, and the mark says which lines to leave out.
"""

import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable

from state.admission import Marks
from state.delta.layout import BUCKET, CHANGELOG, MARK_BUCKET, SCHEDULES
from state.delta.mark import Mark
from state.delta.tables import Tables, read, scannable
from state.errors import StateError
from state.lines import LIGHT, LINE, META, SEQ
from state.pausing import Paused
from state.row import (
    BATCH,
    CHANGED_AT,
    DUE,
    ENTRY,
    IDENTITY,
    PARKED,
    SOURCE_TIMESTAMP,
    Entry,
)

_TAIL = [*LIGHT, SOURCE_TIMESTAMP, LINE, META]
_LOOKS = 20


@dataclass(frozen=True)
class Snapshot:
    """The changelog's lines that are not folded yet (without content), and what they build on."""

    changelog: ds.Dataset
    schedules: ds.Dataset
    mark: Mark
    tail: pa.Table
    files: pa.Table  # the files of schedules with their statistics
    version: int  # of schedules

    @cached_property
    def last_clock(self) -> dict[str, object] | None:
        """The line that closes the newest commit."""
        clocks = self.tail.filter(pc.field(ENTRY) == Entry.CLOCK.value)
        if clocks.num_rows == 0:
            return None
        newest: dict[str, object] = clocks.slice(clocks.num_rows - 1).to_pylist()[0]
        return newest

    @property
    def seq(self) -> int:
        """The newest commit."""
        return self._of_clock(SEQ, self.mark.seq)

    @property
    def last_batch(self) -> int:
        """The newest batch, -1 before the first."""
        return self._of_clock(BATCH, -1)

    @property
    def last_line(self) -> int:
        """The newest line."""
        return self._of_clock(LINE, 0)

    @property
    def last_change(self) -> int | None:
        """The time of the newest commit."""
        at = self._of_clock(CHANGED_AT, -1)
        return None if at < 0 else at

    @property
    def taken(self) -> Marks:
        """The highest offset taken from each partition."""
        marks: Marks = self._meta.get("taken", {})
        return marks

    @property
    def paused(self) -> Paused:
        """What is paused."""
        return Paused.from_dict(self._meta["paused"]) if self._meta else Paused()

    @property
    def may_be_parked(self) -> bool:
        """Whether rows may be held back, as far as can be told without reading them."""
        latest = pc.max(self.tail.column(DUE)).as_py() or 0
        name = f"max.{DUE}"
        if name in self.files.schema.names:
            latest = max(latest, pc.max(self.files.column(name)).as_py() or 0)
        return bool(latest >= PARKED)

    @property
    def foldable(self) -> int:
        """The newest commit that may be folded.

        The newest batch stays in the changelog: its claims must be told again as they were made.
        Before the first batch it is the newest commit, which says how far the input was taken.
        """
        if self.last_batch < 0:
            return max(self.mark.seq, self.seq - 1)
        clocks = self.tail.filter(pc.field(BATCH) == self.last_batch)
        first = pc.min(clocks.column(SEQ)).as_py()
        return self.mark.seq if first is None else int(first) - 1

    @property
    def touched(self) -> pa.Array:
        """The identities that the tail speaks of."""
        return pc.unique(self.tail.column(IDENTITY)).drop_null()

    def until(self, seq: int) -> "Snapshot":
        """Return the same look as it was after commit ``seq``."""
        tail = self.tail.filter(pc.field(SEQ) <= seq)
        return replace(self, tail=tail)

    @cached_property
    def _meta(self) -> dict[str, Any]:
        read: dict[str, Any] = {}
        return read if self.last_clock is None else json.loads(str(self.last_clock[META]))

    def _of_clock(self, column: str, default: int) -> int:
        return default if self.last_clock is None else int(str(self.last_clock[column]))


def clock_meta(taken: Marks, paused: Paused) -> str:
    """Return what the last line of a commit carries besides its time."""
    return json.dumps({"taken": taken, "paused": paused.to_dict()})


def look(tables: Tables) -> Snapshot:
    """Take a look at the state as it is now."""
    for _ in range(_LOOKS):
        changelog = tables.dataset(CHANGELOG)
        snapshot = snapshot_of(changelog, tables.open(SCHEDULES), read(changelog, _TAIL))
        if snapshot is not None:
            return snapshot
    raise StateError(
        f"the tables below state.delta.path {tables.path} do not belong together: schedules is "
        "ahead of the changelog; restore all three from the same backup"
    )


def snapshot_of(
    changelog: ds.Dataset, table: DeltaTable, lines: pa.Table | None = None
) -> Snapshot | None:
    """Put a changelog and a version of ``schedules`` together; None if that one is ahead.

    ``lines`` are those of the changelog, where they are read already.
    """
    lines = read(changelog, _TAIL) if lines is None else lines
    schedules = scannable(table)
    mark = read_mark(schedules)
    if mark.seq > (pc.max(lines.column(SEQ)).as_py() or 0):
        return None
    tail = lines.filter(pc.field(SEQ) > mark.seq).sort_by(LINE)
    files = pa.table(table.get_add_actions(flatten=True))
    return Snapshot(changelog, schedules, mark, tail, files, table.version())


def read_mark(schedules: ds.Dataset) -> Mark:
    """Return what the last fold left behind."""
    rows = read(schedules, [META], pc.field(BUCKET) == MARK_BUCKET)
    return Mark.from_json(rows.column(META)[0].as_py()) if rows.num_rows else Mark()


def is_live_row() -> pc.Expression:
    """Return the expression that leaves the mark out."""
    return pc.field(BUCKET) != MARK_BUCKET
