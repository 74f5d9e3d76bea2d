"""Folds the changelog into ``schedules`` and ``history``.

Three commits, in this order: closed rows to ``history``, live ones and the mark to ``schedules``,
and folded lines out of the changelog. A crash between any two does no harm: readers go by the mark,
and the next fold finds in ``history`` how far the last one came.
"""

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from state.admission import HighMarks, Marks, raise_marks
from state.columns import reshape
from state.crashpoint import Point, reach
from state.delta.layout import (
    BUCKET,
    CHANGELOG,
    CLOSED_ON,
    HISTORY,
    MARK_BUCKET,
    SCHEDULES,
    buckets,
    day_of,
    days,
)
from state.delta.mark import Mark, Outdated
from state.delta.overlay import Overlay, overlay
from state.delta.recents import newest_commands
from state.delta.snapshot import Snapshot, look
from state.delta.tables import Tables
from state.delta.writer import GONE, FoldWriter
from state.lines import META, SEQ
from state.resolve import Known
from state.row import (
    CHANGED_AT,
    DUE,
    LIVE,
    OCCURRENCE,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TIMESTAMP,
    SOURCE_TOPIC,
)
from state.select import by_due

_SOURCE = pa.schema([*SCHEDULES.schema, pa.field(GONE, pa.bool_())])


def fold(tables: Tables, writer: FoldWriter, now: int) -> Mark:
    """Fold what may be folded; return the mark that stands then."""
    snapshot = look(tables)
    target = snapshot.foldable
    if target <= snapshot.mark.seq:
        writer.delete(CHANGELOG, f"{SEQ} <= {snapshot.mark.seq}")
        return snapshot.mark
    changed = overlay(snapshot.until(target))
    _forget_outdated(writer, snapshot.mark)
    _add_closed(writer, changed, target)
    reach(Point.DURING_FOLD)
    mark = _mark(changed, target)
    source = _source(changed, mark, now)
    writer.merge(source, _touched_buckets(changed), target, snapshot.version)
    reach(Point.AFTER_FOLD_MERGE)
    writer.delete(CHANGELOG, f"{SEQ} <= {target}")
    return mark


def purge(writer: FoldWriter, now: int, keep_closed: int) -> None:
    """Drop the days of ``history`` on which all rows were closed longer ago than they are kept."""
    writer.delete(HISTORY, f"{CLOSED_ON} < '{day_of(now - keep_closed)}'")


def _add_closed(writer: FoldWriter, changed: Overlay, target: int) -> None:
    there = writer.history_seq()
    if there >= target:
        return
    rows = changed.rows(k for k in changed if k.status not in LIVE and k.seq > there)
    rows = by_due(rows)
    closed = reshape(rows, HISTORY.schema, {CLOSED_ON: days(rows.column(CHANGED_AT))})
    writer.add_history(closed, target)


def _source(changed: Overlay, mark: Mark, now: int) -> pa.Table:
    live = _changed_rows(changed, (k for k in changed if k.status in LIVE), now, gone=False)
    ended = (k for k in changed if k.status not in LIVE and k.coordinates in changed.base_names)
    gone = _changed_rows(changed, ended, now, gone=True)
    return pa.concat_tables([live, gone, mark_row(mark)])


def _changed_rows(changed: Overlay, versions: Iterable[Known], now: int, gone: bool) -> pa.Table:
    rows = by_due(changed.rows(versions))
    return reshape(rows, _SOURCE, {BUCKET: buckets(rows.column(DUE), now), GONE: gone})


def _mark(changed: Overlay, target: int) -> Mark:
    outdated: list[Outdated] = [(*k.coordinates, k.seq) for k in changed if k.corrects]
    return Mark(target, changed.counts, _stamps(changed.snapshot), outdated)


def _stamps(snapshot: Snapshot) -> Marks:
    stamps = HighMarks(snapshot.mark.stamps)
    raise_marks(stamps, newest_commands(snapshot.tail), SOURCE_TIMESTAMP)
    return stamps.as_dict()


def mark_row(mark: Mark) -> pa.Table:
    """Return the mark as a row; it takes the place of the last one by bearing the same version."""
    row = {
        SOURCE_TOPIC: [""],
        SOURCE_PARTITION: [0],
        SOURCE_OFFSET: [0],
        OCCURRENCE: [0],
        META: [mark.to_json()],
        BUCKET: [MARK_BUCKET],
        GONE: [False],
        SEQ: [mark.seq],
    }
    return reshape(pa.table(row), _SOURCE)


def _touched_buckets(changed: Overlay) -> list[str]:
    return sorted({MARK_BUCKET, *pc.unique(changed.base.column(BUCKET)).to_pylist()})


def _forget_outdated(writer: FoldWriter, mark: Mark) -> None:
    for topic, partition, offset, occurrence, seq in mark.outdated:
        quoted = topic.replace("'", "''")
        writer.delete(
            HISTORY,
            f"{SOURCE_TOPIC} = '{quoted}' and {SOURCE_PARTITION} = {partition} "
            f"and {SOURCE_OFFSET} = {offset} and {OCCURRENCE} = {occurrence} and {SEQ} < {seq}",
        )
