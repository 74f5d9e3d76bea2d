"""Answers questions about a state in Delta tables, beside the job that writes them."""

from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from state.columns import reshape
from state.delta.layout import HISTORY
from state.delta.mark import Mark
from state.delta.overlay import COORDINATES, ROW_SEQ, Overlay, overlay, without_versions
from state.delta.snapshot import is_live_row, look
from state.delta.tables import Tables, read
from state.inspect import Filter, Stats
from state.ledger import stats_of
from state.lines import SEQ
from state.row import (
    CLAIM,
    CLOSED,
    DUE,
    KIND,
    LIVE,
    OCCURRENCE,
    OUTPUT_TOPIC,
    ROW,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TOPIC,
    STATUS,
    Status,
)
from state.select import by_due, by_version, expression, first, key_is
from state.version import Coordinates

_LIVE = [*COORDINATES, KIND, STATUS, DUE, OUTPUT_TOPIC]


class DeltaInspector:
    """Reads the tables afresh for each question."""

    def __init__(self, tables: Tables) -> None:
        tables.state_id()
        self._tables = tables

    def rows(self, where: Filter) -> pa.Table:
        """Return the rows that match, ordered by due."""
        found = find(self._tables, expression(where), where.statuses, where.limit)
        return first(found, where.limit)

    def versions(self, key: bytes, source_topic: str | None = None) -> pa.Table:
        """Return every version of a key that is still known, oldest first."""
        return by_version(find(self._tables, key_is(key, source_topic)))

    def stats(self, now: int) -> Stats:
        """Count."""
        snapshot = look(self._tables)
        changed = overlay(snapshot)
        base = without_versions(read(snapshot.schedules, _LIVE, is_live_row()), _names(changed))
        standing = changed.rows(k for k in changed if k.status in LIVE).select(_LIVE)
        live = pa.concat_tables([base.select(_LIVE), standing])
        return stats_of(changed.counts, live, snapshot.last_batch, now)


def find(
    tables: Tables,
    where: pc.Expression,
    statuses: Collection[Status] | None = None,
    limit: int | None = None,
) -> pa.Table:
    """Return the rows that match, in no order; with a limit at least those with the least due."""
    changed = overlay(look(tables))
    wanted = set(statuses) if statuses is not None else set(Status)
    parts = [changed.rows(changed).filter(where)]
    if wanted & LIVE:
        parts.append(_standing(changed, where, limit))
    if wanted & CLOSED:
        parts.append(_closed(tables, changed, where))
    return pa.concat_tables([reshape(part, ROW) for part in parts])


def claims_made(tables: Tables, batch: int) -> pa.Table:
    """Return the rows that ``batch`` claimed and that still bear its number, as when claimed."""
    rows = find(tables, pc.field(CLAIM) == batch)
    return by_due(reshape(rows, ROW, {STATUS: Status.CLAIMED.value}))


def _standing(changed: Overlay, where: pc.Expression, limit: int | None) -> pa.Table:
    schedules = changed.snapshot.schedules
    where = where & is_live_row()
    names = _names(changed)
    if limit is not None:
        dues = read(schedules, [DUE], where).column(DUE).to_numpy()
        enough = limit + len(names)
        if len(dues) > enough:
            where = where & (pc.field(DUE) <= int(np.partition(dues, enough)[enough]))
    return without_versions(read(schedules, ROW_SEQ.names, where), names)


def _closed(tables: Tables, changed: Overlay, where: pc.Expression) -> pa.Table:
    # A row newer than the mark belongs to a fold that is not finished; the tail still has it.
    folded = pc.field(SEQ) <= changed.snapshot.mark.seq
    rows = read(tables.dataset(HISTORY), ROW_SEQ.names, where & folded)
    return not_outdated(without_versions(rows, _names(changed)), changed.snapshot.mark)


def not_outdated(closed: pa.Table, mark: Mark) -> pa.Table:
    """Leave out closed rows that a later outcome has corrected."""
    for topic, partition, offset, occurrence, seq in mark.outdated:
        outdated = (
            (pc.field(SOURCE_TOPIC) == topic)
            & (pc.field(SOURCE_PARTITION) == partition)
            & (pc.field(SOURCE_OFFSET) == offset)
            & (pc.field(OCCURRENCE) == occurrence)
            & (pc.field(SEQ) < seq)
        )
        closed = closed.filter(~outdated)
    return closed


def _names(changed: Overlay) -> set[Coordinates]:
    return {known.coordinates for known in changed}
