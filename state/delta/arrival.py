"""Says what the changelog of a copied state begins with.

Its one commit repeats what a store must know of the last batches and finds nowhere else: the claims
of the last batch, the newest commands, how far the input was taken. Every row is in the tables
already, so the lines are such that reading them changes none; where they add to the ledger, that is
taken off the totals they build on.
"""

from collections.abc import Sequence

import pyarrow as pa

from state.admission import coordinates_of, versions_of
from state.columns import reshape
from state.copying import Heard, Standing
from state.delta.snapshot import clock_meta
from state.lines import LINE, LINES, SEQ, clock_line
from state.resolve import Counts
from state.row import (
    ATTEMPT,
    BATCH,
    CHANGED_AT,
    DUE,
    ENTRY,
    IDENTITY,
    KIND,
    OCCURRENCE,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TIMESTAMP,
    SOURCE_TOPIC,
    STATUS,
    SUPERSEDED,
    Entry,
    Kind,
    Status,
)


def arrival(
    standing: Standing, at: int, made: pa.Table, heard: Sequence[Heard], pending: pa.Table
) -> tuple[pa.Table, Counts]:
    """Return the lines of the commit, and the totals without what they add.

    ``pending`` are the rows that are pending among the keys that ``made`` and ``heard`` name.
    """
    standing_still = set(pending.column(IDENTITY).to_pylist())
    silent = [h for h in heard if h.identity not in standing_still]
    counts = standing.counts.copy()
    counts.late_cancels -= len(silent)
    clock = clock_line(standing.last_batch, at, clock_meta(standing.taken, standing.paused))
    parts = [
        _claims(made),
        _unchanged(pending, made, heard),
        _cancels(silent, standing.last_batch),
        clock,
    ]
    lines = pa.concat_tables(parts)
    places = pa.array(range(1, lines.num_rows + 1), pa.int64())
    return reshape(lines, LINES, {SEQ: standing.seq + 1, LINE: places}), counts


def _claims(made: pa.Table) -> pa.Table:
    """Return the claims of the last batch; a version that is not pending is not touched by them."""
    return reshape(made, LINES, {ENTRY: Entry.CLAIM.value})


def _unchanged(pending: pa.Table, made: pa.Table, heard: Sequence[Heard]) -> pa.Table:
    """Return lines that put rows back as they are, after their claim, and name their command."""
    claimed = set(coordinates_of(made))
    newest = {(h.identity, h.version.record) for h in heard}
    named = versions_of(pending)
    is_newest = [(identity, version.record) in newest for identity, version in named]
    wanted = [
        is_command or version.coordinates in claimed
        for (_, version), is_command in zip(named, is_newest, strict=True)
    ]
    superseded = pa.array([0 if is_command else None for is_command in is_newest], pa.int32())
    lines = reshape(pending, LINES, {ENTRY: Entry.OUTCOME.value, SUPERSEDED: superseded})
    return lines.filter(pa.array(wanted, pa.bool_()))


def _cancels(heard: Sequence[Heard], batch: int) -> pa.Table:
    """Return a cancel for each command whose key has nothing pending: it only leaves its name."""
    columns: dict[str, object] = {
        IDENTITY: [h.identity for h in heard],
        SOURCE_TOPIC: [h.version.topic for h in heard],
        SOURCE_PARTITION: [h.version.partition for h in heard],
        SOURCE_OFFSET: [h.version.offset for h in heard],
        SOURCE_TIMESTAMP: [h.version.timestamp for h in heard],
        OCCURRENCE: [h.version.occurrence for h in heard],
        DUE: [h.at for h in heard],
        CHANGED_AT: [h.at for h in heard],
    }
    types = {name: LINES.field(name).type for name in columns}
    table = pa.table({name: pa.array(column, types[name]) for name, column in columns.items()})
    same = {ENTRY: Entry.CANCEL.value, STATUS: Status.CANCELLED.value, KIND: Kind.MESSAGE.value}
    return reshape(table, LINES, {**same, SUPERSEDED: 0, ATTEMPT: 0, BATCH: batch})
