"""Writes a state that is copied into Delta tables.

The tables bear the name of the copy from the beginning, and the changelog has no commit: so they
are no state. Rows go to ``history`` and ``schedules`` as a fold would leave them. The last write is
the changelog's first commit; it tells what a restart must know and no row says.
"""

import json
import uuid
from collections import Counter
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import CommitFailedError, DeltaError

from state.admission import HighMarks, raise_marks
from state.columns import reshape
from state.copying import Heard, Part, Standing
from state.crashpoint import CopyPoint, reach
from state.delta.arrival import arrival
from state.delta.fold import mark_row
from state.delta.layout import (
    APP,
    BUCKET,
    CHANGELOG,
    CLOSED_ON,
    COPY_PROPERTY,
    HISTORY,
    MARK_BUCKET,
    SCHEDULES,
    Layout,
    buckets,
    days,
)
from state.delta.mark import Mark
from state.delta.native import PARQUET, create_table
from state.delta.snapshot import is_live_row
from state.delta.tables import Tables, read, refuse_foreign
from state.delta.writer import cannot_be_written
from state.errors import StateError
from state.fields import bytes_in, text_is
from state.lines import SEQ
from state.row import (
    CHANGED_AT,
    DUE,
    IDENTITY,
    LIVE,
    ROW,
    SOURCE_PARTITION,
    SOURCE_TIMESTAMP,
    SOURCE_TOPIC,
    STATUS,
    Status,
)
from state.select import by_due

_STAMPS = [SOURCE_TOPIC, SOURCE_PARTITION, SOURCE_TIMESTAMP, CHANGED_AT]
_LIVE = pa.array(sorted(LIVE), pa.string())


class DeltaTarget:
    """Appends rows; how many are there is in the same commit as they are."""

    part_rows = 50_000

    def __init__(self, tables: Tables, keep: int, now: int) -> None:
        self._tables = tables
        self._keep = keep
        self._now = now
        self._seq = 0
        self._app = ""
        self.place = f"state.delta.path {tables.path}"

    def begin(self, standing: Standing) -> int:
        """Make the tables, or find those of the same copy."""
        self._refuse_others()
        self._seq = standing.seq
        found = self._tables.half_copied() if self._tables.has(CHANGELOG) else None
        copy = json.loads(found) if found else {}
        if (copy.get("state"), copy.get("position")) != (standing.state_id, standing.position):
            attempt = str(uuid.uuid4())
            copy = {"state": standing.state_id, "position": standing.position, "attempt": attempt}
        self._app = f"copy {copy['attempt']}"
        self._create(json.dumps(copy, sort_keys=True), standing.state_id)
        self._handles = {layout.name: self._tables.open(layout) for layout in (HISTORY, SCHEDULES)}
        return self._there(SCHEDULES)

    def write(self, part: Part) -> None:
        """Append closed rows to ``history``, then live ones to ``schedules``."""
        is_live = pc.is_in(part.rows.column(STATUS), _LIVE)
        closed = by_due(part.rows.filter(pc.invert(is_live)))
        live = by_due(part.rows.filter(is_live))
        there = self._there(HISTORY)
        if there not in (self._there(SCHEDULES), part.upto):
            raise StateError(
                f"the copy in {self.place} was begun by another version of duestream; remove the "
                "folder and copy again"
            )
        if there < part.upto:
            day = {CLOSED_ON: days(closed.column(CHANGED_AT)), SEQ: self._seqs(closed)}
            self._append(HISTORY, reshape(closed, HISTORY.schema, day), part.upto)
        reach(CopyPoint.DURING_COPY)
        bucket = {BUCKET: buckets(live.column(DUE), self._now), SEQ: self._seqs(live)}
        self._append(SCHEDULES, reshape(live, SCHEDULES.schema, bucket), part.upto)

    def by_status(self) -> Counter[str]:
        """Count the rows written so far."""
        counted: Counter[str] = Counter()
        for data in (self._dataset(SCHEDULES).filter(is_live_row()), self._dataset(HISTORY)):
            for batch in data.to_batches(columns=[STATUS]):
                counted.update(batch.column(0).to_pylist())
        return counted

    def finish(self, standing: Standing, made: pa.Table, heard: Sequence[Heard], now: int) -> None:
        """Write the mark, and then the one commit of the changelog."""
        stamps, newest = self._stamps()
        at = standing.changed_at or newest or now
        named = {h.identity for h in heard} | set(made.column(IDENTITY).to_pylist())
        lines, counts = arrival(standing, at, made, heard, self._pending(named))
        mark = Mark(standing.seq, counts, stamps)
        try:
            self._write_mark(mark)
            for layout in (SCHEDULES, HISTORY):
                self._tables.open(layout).optimize.compact(writer_properties=PARQUET)
            _append(self._tables.open(CHANGELOG), lines, APP, standing.seq + 1)
        except (DeltaError, OSError) as error:
            raise StateError(cannot_be_written(self._tables.path, error)) from error

    def close(self) -> None:
        """Nothing to let go of."""

    def _refuse_others(self) -> None:
        refuse_foreign(self._tables)
        tables = self._tables
        if tables.has(CHANGELOG):
            if tables.half_copied() is None:
                raise StateError(
                    f"{self.place} holds a state already ({tables.state_id()}); to copy another "
                    "there remove the folder, or set another state.delta.path"
                )
        elif tables.unfinished_id() is not None and tables.open(SCHEDULES).file_uris():
            raise StateError(
                f"{self.place} holds schedules without a changelog; restore it, or set another "
                "state.delta.path"
            )

    def _create(self, copy: str, state_id: str) -> None:
        """Make each table that does not belong to this copy anew, the changelog first."""
        for layout in (CHANGELOG, SCHEDULES, HISTORY):
            if self._tables.has(layout):
                found = self._tables.open(layout).metadata().configuration
                if found.get(COPY_PROPERTY) == copy:
                    continue
            try:
                create_table(
                    self._tables, layout, state_id, self._keep, {COPY_PROPERTY: copy}, "overwrite"
                )
            except (DeltaError, OSError) as error:
                raise StateError(cannot_be_written(self._tables.path, error)) from error

    def _there(self, layout: Layout) -> int:
        return int(self._handles[layout.name].transaction_version(self._app) or 0)

    def _append(self, layout: Layout, rows: pa.Table, upto: int) -> None:
        try:
            _append(self._handles[layout.name], rows, self._app, upto)
        except CommitFailedError as error:
            raise StateError(
                f"another copy to {self.place} is under way; let it end, or stop it"
            ) from error
        except (DeltaError, OSError) as error:
            raise StateError(cannot_be_written(self._tables.path, error)) from error

    def _seqs(self, rows: pa.Table) -> pa.ChunkedArray:
        return pc.min_element_wise(rows.column(SEQ), pa.scalar(self._seq, pa.int64()))

    def _dataset(self, layout: Layout) -> "pa.dataset.Dataset":
        return self._tables.dataset(layout)

    def _stamps(self) -> tuple[dict[str, dict[str, int]], int | None]:
        """Return the newest record timestamps of live rows, and the time of the last change."""
        stamps, newest = HighMarks(), None
        for batch in self._dataset(SCHEDULES).filter(is_live_row()).to_batches(columns=_STAMPS):
            raise_marks(stamps, pa.Table.from_batches([batch]), SOURCE_TIMESTAMP)
            newest = _later(newest, batch)
        for batch in self._dataset(HISTORY).to_batches(columns=[CHANGED_AT]):
            newest = _later(newest, batch)
        return stamps.as_dict(), newest

    def _pending(self, identities: set[bytes]) -> pa.Table:
        where = is_live_row() & text_is(STATUS, Status.PENDING.value)
        named = pa.array(sorted(identities), pa.binary())
        return reshape(
            read(self._dataset(SCHEDULES), ROW.names, where & bytes_in(IDENTITY, named)), ROW
        )

    def _write_mark(self, mark: Mark) -> None:
        write_deltalake(
            self._tables.open(SCHEDULES),
            reshape(mark_row(mark), SCHEDULES.schema),
            mode="overwrite",
            predicate=f"{BUCKET} = '{MARK_BUCKET}'",
            writer_properties=PARQUET,
        )


def _append(table: DeltaTable, rows: pa.Table, app: str, number: int) -> None:
    write_deltalake(
        table,
        rows,
        mode="append",
        commit_properties=CommitProperties(app_transactions=[Transaction(app, number)]),
        writer_properties=PARQUET,
    )


def _later(newest: int | None, batch: pa.RecordBatch) -> int | None:
    found = pc.max(batch.column(CHANGED_AT)).as_py()
    return max((n for n in (newest, found) if n is not None), default=None)
