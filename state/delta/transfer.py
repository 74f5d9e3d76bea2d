"""Reads a state out of Delta tables, to be copied."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from state.admission import coordinates_of, versions_of
from state.columns import reshape
from state.copying import CLAIMED_AT, COPIED, LAST_CLAIM, PART_BYTES, Heard, Part, Standing
from state.delta.layout import HISTORY, TABLES
from state.delta.overlay import COORDINATES, ROW_SEQ, overlay, without_versions
from state.delta.recall import made_last
from state.delta.recents import newest_commands
from state.delta.snapshot import is_live_row, look
from state.delta.tables import Tables, read
from state.delta.view import not_outdated
from state.errors import StateError
from state.fields import text_is
from state.lines import SEQ
from state.row import CHANGED_AT, CLAIM, SOURCE_OFFSET, STATUS, Status
from state.version import Coordinates

_LIGHT = [*COORDINATES, STATUS, SEQ]


class DeltaSource:
    """Reads the tables as they were when it was opened, file by file."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._id = tables.state_id()
        self._position = _position(tables)
        self._snapshot = look(tables)
        self._changed = overlay(self._snapshot)
        self._names = {known.coordinates for known in self._changed}
        self._history = tables.dataset(HISTORY)
        self._made = made_last(self._snapshot)
        self._made_at = _instants(self._made)
        self.place = f"state.delta.path {tables.path}"

    def standing(self) -> Standing:
        """Return all but the rows; the position is that of the tables as they are now."""
        snapshot = self._snapshot
        return Standing(
            state_id=self._id,
            position=self._position if _position(self._tables) == self._position else "",
            seq=snapshot.seq,
            last_batch=snapshot.last_batch,
            oldest_claim=min(self._claims(), default=max(snapshot.last_batch, 0)),
            changed_at=snapshot.last_change,
            taken=snapshot.taken,
            counts=self._changed.counts,
            paused=snapshot.paused,
        )

    def total(self) -> int:
        """Return how many rows there are in memory and in files."""
        return len(self._names) + sum(int(f.count_rows()) for f in self._files())

    def parts(self, start: int, most: int) -> Iterator[Part]:
        """Read what the changelog has changed, then the files in the order of their names."""
        at = 0
        changed = reshape(self._changed.rows(self._changed), ROW_SEQ)
        for rows in _sliced(changed.slice(start), most):
            at += rows.num_rows
            yield Part(self._completed(rows), min(start, changed.num_rows) + at)
        at = changed.num_rows
        for file in self._files():
            size = file.count_rows()
            if at + size > start:
                yield from self._of_file(file, at, max(0, start - at), most)
            at += size

    def made(self) -> pa.Table:
        """Return the claims of the last batch as they were made."""
        return self._made

    def heard(self) -> Sequence[Heard]:
        """Return the newest commands of the changelog; older ones are rows, or forgotten."""
        lines = newest_commands(self._snapshot.tail)
        instants = lines.column(CHANGED_AT).to_pylist()
        named = zip(versions_of(lines), instants, strict=True)
        newest = {identity: Heard(identity, version, at) for (identity, version), at in named}
        return list(newest.values())

    def by_status(self) -> Counter[str]:
        """Count the rows."""
        counted = Counter(known.status.value for known in self._changed)
        for data in (self._snapshot.schedules.filter(is_live_row()), self._history):
            for batch in data.to_batches(columns=_LIGHT):
                rows = self._standing(pa.Table.from_batches([batch]))
                counted.update(rows.column(STATUS).to_pylist())
        return counted

    def close(self) -> None:
        """Nothing to let go of."""

    def _files(self) -> list[ds.Fragment]:
        live = self._snapshot.schedules.get_fragments(filter=is_live_row())
        closed = self._history.get_fragments()
        return [*sorted(live, key=_path), *sorted(closed, key=_path)]

    def _of_file(self, file: ds.Fragment, at: int, skip: int, most: int) -> Iterator[Part]:
        read_so_far = 0
        try:
            for batch in file.to_batches(
                schema=ROW_SEQ, batch_size=most, batch_readahead=1, fragment_readahead=1
            ):
                table = pa.Table.from_batches([batch])
                left_out = min(max(0, skip - read_so_far), table.num_rows)
                read_so_far += left_out
                for rows in _sliced(table.slice(left_out), most):
                    read_so_far += rows.num_rows
                    yield Part(self._completed(self._standing(rows)), at + read_so_far)
        except OSError as error:
            raise StateError(
                f"a file of the state cannot be read ({error}); see that no job writes the state, "
                "then run `duestream state copy` again"
            ) from error

    def _standing(self, rows: pa.Table) -> pa.Table:
        """Leave out what the changelog says anew, and what is not valid yet or any more."""
        # A row newer than the mark belongs to a fold that is not finished; the tail still has it.
        mark = self._snapshot.mark
        rows = without_versions(rows, self._names)
        return not_outdated(rows.filter(pc.less_equal(rows.column(SEQ), mark.seq)), mark)

    def _completed(self, rows: pa.Table) -> pa.Table:
        """Add when each row was last claimed, and by which batch."""
        claimed = pc.is_valid(rows.column(CLAIM))
        nothing = pa.scalar(None, pa.int64())
        last, at = rows.column(CLAIM), pc.if_else(claimed, rows.column(CHANGED_AT), nothing)
        made = self._made_at
        offsets = pa.array([offset for _, _, offset, _ in made], pa.int64())
        alike = np.flatnonzero(pc.is_in(rows.column(SOURCE_OFFSET), offsets).to_numpy())
        if len(alike):
            batches, instants = last.to_pylist(), at.to_pylist()
            named = coordinates_of(rows.take(pa.array(alike)))
            for i, coordinates in zip(alike, named, strict=True):
                if coordinates in made:
                    batches[i], instants[i] = self._snapshot.last_batch, made[coordinates]
            last, at = pa.array(batches, pa.int64()), pa.array(instants, pa.int64())
        return reshape(rows, COPIED, {LAST_CLAIM: last, CLAIMED_AT: at})

    def _claims(self) -> Iterator[int]:
        where = is_live_row() & text_is(STATUS, Status.CLAIMED.value)
        folded = read(self._snapshot.schedules, [*COORDINATES, CLAIM], where)
        yield from without_versions(folded, self._names).column(CLAIM).to_pylist()
        for known in self._changed:
            if known.status is Status.CLAIMED and known.claim is not None:
                yield known.claim


def _position(tables: Tables) -> str:
    versions = (f"{layout.name} {tables.open(layout).version()}" for layout in TABLES)
    return "versions: " + ", ".join(versions)


def _instants(made: pa.Table) -> dict[Coordinates, int]:
    return dict(zip(coordinates_of(made), made.column(CHANGED_AT).to_pylist(), strict=True))


def _path(file: ds.Fragment) -> str:
    return str(file.path)


def _sliced(rows: pa.Table, most: int) -> Iterator[pa.Table]:
    """Cut rows so that each slice is neither too many nor too much."""
    if rows.num_rows == 0:
        return
    at_once = min(most, max(1, rows.num_rows * PART_BYTES // max(1, rows.nbytes)))
    for first in range(0, rows.num_rows, at_once):
        yield rows.slice(first, at_once)
