"""Writes the tables with delta-rs, without a JVM."""

import uuid
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import (
    CommitProperties,
    DeltaTable,
    PostCommitHookProperties,
    Schema,
    Transaction,
    WriterProperties,
    write_deltalake,
)
from deltalake.exceptions import CommitFailedError, DeltaError

from state.clock import HOUR
from state.crashpoint import Point, reach
from state.delta.layout import (
    APP,
    CHANGELOG,
    HISTORY,
    SCHEDULES,
    TABLES,
    Layout,
    kept_for,
    properties,
)
from state.delta.rewrite import rewrite
from state.delta.tables import Tables
from state.delta.writer import another_writer, cannot_be_written
from state.errors import StateError

_TRIES = 5
# Checkpoints are made in the background, never while a tick waits.
_NO_HOOKS = PostCommitHookProperties(create_checkpoint=False, cleanup_expired_logs=False)
PARQUET = WriterProperties(compression="ZSTD", max_row_group_size=32_768)


def create_tables(tables: Tables, state_id: str, keep: int) -> None:
    """Make the tables that are not there yet."""
    for layout in TABLES:
        create_table(tables, layout, state_id, keep, {}, "ignore")


def create_table(
    tables: Tables,
    layout: Layout,
    state_id: str,
    keep: int,
    more: Mapping[str, str],
    mode: Literal["ignore", "overwrite"],
) -> None:
    """Make one table, with ``more`` properties; ``mode`` says what becomes of one that is there."""
    DeltaTable.create(
        tables.uri(layout),
        schema=Schema.from_arrow(layout.schema),
        mode=mode,
        partition_by=[layout.partition] if layout.partition else None,
        configuration={**properties(layout, state_id, keep), **more},
        storage_options=dict(tables.options),
        raise_if_key_not_exists=False,
    )


class NativeWriter:
    """Appends to the changelog through one handle, kept from commit to commit.

    delta-rs refuses an append when another one of the same application has come in since the
    handle's version: that is the fence against a second job. It refuses as well after a fold has
    trimmed the changelog; then the handle is opened anew and the numbers decide.
    """

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._handle = tables.open(CHANGELOG)
        self._fresh: DeltaTable | None = None

    def append(self, lines: pa.Table, seq: int) -> None:
        """Append one commit; StateError when somebody else has written since the last one."""
        self._handle, self._fresh = self._fresh or self._handle, None
        for _ in range(_TRIES):
            try:
                self._write(lines, seq)
            except CommitFailedError:
                self._handle = self._tables.open(CHANGELOG)
                if (self._handle.transaction_version(APP) or 0) != seq - 1:
                    raise StateError(another_writer(self._tables.path)) from None
            except (DeltaError, OSError) as error:
                raise StateError(cannot_be_written(self._tables.path, error)) from error
            else:
                return
        raise StateError(f"the changelog at {self._tables.path} could not be written to")

    def refresh(self) -> None:
        """Write a checkpoint and open a handle that starts from it."""
        self._tables.open(CHANGELOG).create_checkpoint()
        self._fresh = self._tables.open(CHANGELOG)

    def _write(self, lines: pa.Table, seq: int) -> None:
        reach(Point.DURING_COMMIT, partial(_leave_unnamed, self._tables, lines))
        write_deltalake(
            self._handle,
            lines,
            mode="append",
            commit_properties=_numbered(seq),
            post_commithook_properties=_NO_HOOKS,
            writer_properties=PARQUET,
        )


class NativeFoldWriter:
    """Writes a fold's commits, each through a handle of its own."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def history_seq(self) -> int:
        """Return the commit up to which closed rows are in ``history``."""
        return self._tables.commits(HISTORY)

    def add_history(self, rows: pa.Table, seq: int) -> None:
        """Append closed rows, as known after commit ``seq``."""
        write_deltalake(
            self._tables.open(HISTORY),
            rows,
            mode="append",
            commit_properties=_numbered(seq),
            writer_properties=PARQUET,
        )

    def merge(self, source: pa.Table, buckets: list[str], seq: int, version: int) -> None:
        """Bring ``schedules`` from ``version`` to commit ``seq``; it must be the newest one."""
        # To try again would be to commit beside what came in between: delta-rs sees no conflict
        # with an OPTIMIZE, which has joined the very files that are written anew here.
        properties = _numbered(seq, retries=0)
        rewrite(self._tables.open(SCHEDULES, version), source, buckets, properties)

    def delete(self, layout: Layout, predicate: str) -> None:
        """Delete rows; nothing is committed when there are none."""
        self._tables.open(layout).delete(predicate)

    def tidy(self, keep: int) -> None:
        """Join small files, and drop those that nobody has used for ``keep`` microseconds."""
        for layout in (SCHEDULES, HISTORY):
            self._tables.open(layout).optimize.compact(writer_properties=PARQUET)
        for layout in TABLES:
            table = self._tables.open(layout)
            hours = _hours(table, kept_for(layout, keep))
            # Full: a checkpoint forgets which files were removed once they are as old as those that
            # may go, so of the changelog's, one a tick, hardly any would ever be found by name.
            table.vacuum(hours, dry_run=False, enforce_retention_duration=False, full=True)
            table.create_checkpoint()
            table.cleanup_metadata()


def _hours(table: DeltaTable, kept: int) -> int | None:
    """Return the hours that unused files stay; None: as the table says, if it was made for less."""
    said = table.metadata().configuration.get("delta.deletedFileRetentionDuration", "")
    return None if kept < HOUR and "seconds" in said else max(1, kept // HOUR)


def _leave_unnamed(tables: Tables, lines: pa.Table) -> None:
    """Leave what a writer leaves that dies within a commit; delta-rs cannot be stopped there."""
    folder = Path(tables.uri(CHANGELOG).removeprefix("file://"))
    pq.write_table(lines, folder / f"part-00000-{uuid.uuid4()}-c000.zstd.parquet")


def _numbered(seq: int, retries: int | None = None) -> CommitProperties:
    """Return the properties of a commit; retries None: as often as delta-rs tries by itself."""
    return CommitProperties(app_transactions=[Transaction(APP, seq)], max_commit_retries=retries)
