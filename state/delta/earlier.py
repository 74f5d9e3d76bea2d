"""Finds the tables as they were at an earlier commit, by Delta's own versions.

Every version of the changelog ends with the clock line of its newest commit. The last version whose
clock shows no later time than the one asked for has the lines, and the newest version of
``schedules`` whose mark is behind it has the rows they build on: together they are the state after
that commit, exactly. A changelog is kept for about an hour only. Further back the versions of
``schedules`` alone answer, as of the last fold before the instant, for as long as
``state.delta.vacuum_age`` leaves them.
"""

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable

from state.delta.layout import APP, CHANGELOG, HISTORY, SCHEDULES, Layout
from state.delta.snapshot import Snapshot, look, read_mark, snapshot_of
from state.delta.tables import Tables, read, scannable
from state.delta.view import View
from state.errors import StateError
from state.fields import text_is
from state.inspector import Moment
from state.lines import SEQ
from state.row import CHANGED_AT, ENTRY, Entry

_MILLISECOND = 1_000


def moment_of(view: View) -> Moment:
    """Return which commit a view is of."""
    return Moment(view.snapshot.last_change)


def view_at(tables: Tables, instant: int) -> tuple[View, Moment]:
    """Return the state after the last commit up to ``instant``, and which one that is."""
    snapshot = _in_tail(look(tables), instant)
    if snapshot is not None:
        view = View(snapshot, _opened(tables.dataset(HISTORY)))
        return view, moment_of(view)
    try:
        snapshot = _by_changelog(tables, instant)
    except StateError:
        snapshot = None
    if snapshot is None:
        return _by_fold(tables, instant)
    view = View(snapshot, _opened(_history_at(tables, snapshot.mark.seq)))
    return view, moment_of(view)


def _in_tail(snapshot: Snapshot, instant: int) -> Snapshot | None:
    """Return the look as of an instant, if the lines at hand reach back to it."""
    clocks = snapshot.tail.filter(pc.field(ENTRY) == Entry.CLOCK.value)
    seq = pc.max(clocks.filter(pc.field(CHANGED_AT) <= instant).column(SEQ)).as_py()
    return None if seq is None else snapshot.until(seq)


def _by_changelog(tables: Tables, instant: int) -> Snapshot | None:
    """Return the state after the last commit up to an instant; None where nobody knows it."""
    version = _last(tables, CHANGELOG, lambda table: (_clock(table) or (0, 0))[1] <= instant)
    if version is None:
        return None
    changelog = tables.open(CHANGELOG, version)
    seq, _ = _clock(changelog) or (0, 0)
    # This commit itself must not be folded there: its lines tell its number and its time.
    base = _last(tables, SCHEDULES, lambda table: _mark_seq(table) < max(seq, 1))
    if base is None:
        return None
    return snapshot_of(scannable(changelog), tables.open(SCHEDULES, base))


def _by_fold(tables: Tables, instant: int) -> tuple[View, Moment]:
    """Return the state after the last fold up to an instant."""
    for commit in tables.open(SCHEDULES).history():
        at = commit["timestamp"] * _MILLISECOND
        if at > instant:
            continue
        try:
            snapshot = _folded(tables, int(commit["version"]))
        except StateError:
            break
        view = View(snapshot, _opened(_history_at(tables, snapshot.mark.seq)))
        return view, Moment(at, exact=False)
    raise StateError(
        f"the tables below state.delta.path {tables.path} do not reach back that far; earlier "
        "states are kept for state.delta.vacuum_age, so ask for a later instant"
    )


def _folded(tables: Tables, version: int) -> Snapshot:
    """Return what a fold left, without any line after it."""
    table = tables.open(SCHEDULES, version)
    schedules = scannable(table)
    files = pa.table(table.get_add_actions(flatten=True))
    now = look(tables)
    tail = now.tail.slice(0, 0)
    return replace(now, schedules=schedules, mark=read_mark(schedules), tail=tail, files=files)


def _history_at(tables: Tables, mark: int) -> ds.Dataset:
    """Return the closed rows as the fold up to ``mark`` left them: later ones may drop some."""
    before = _last(tables, HISTORY, lambda table: _commit_in(table) < mark) if mark else -1
    if before is None:
        return tables.dataset(HISTORY)
    try:
        return scannable(tables.open(HISTORY, before + 1))
    except StateError:
        return tables.dataset(HISTORY)


def _last(tables: Tables, layout: Layout, holds: Callable[[DeltaTable], bool]) -> int | None:
    """Return the last version of a table for which something holds that ended at some version.

    None where the versions of which it holds are no longer kept.
    """
    low, high = -1, int(tables.open(layout).version()) + 1  # it holds at low, and not at high
    readable = False
    while high - low > 1:
        middle = (low + high) // 2
        try:
            found, known = holds(tables.open(layout, middle)), True
        except StateError:  # too old: its part of the log, or a file, is gone
            found, known = True, False
        if found:
            low, readable = middle, known
        else:
            high = middle
    return low if readable else None


def _clock(table: DeltaTable) -> tuple[int, int] | None:
    """Return number and time of the newest commit in a changelog; None if it has none."""
    files = pa.table(table.get_add_actions(flatten=True))
    lines = scannable(table)
    newest = f"max.{SEQ}"
    known = files.column(newest) if newest in files.schema.names else read(lines, [SEQ]).column(SEQ)
    seq = pc.max(known).as_py()
    if seq is None:
        return None
    clocks = read(lines, [CHANGED_AT], (pc.field(SEQ) == seq) & text_is(ENTRY, Entry.CLOCK.value))
    return int(seq), int(pc.max(clocks.column(CHANGED_AT)).as_py())


def _mark_seq(table: DeltaTable) -> int:
    return read_mark(scannable(table)).seq


def _commit_in(table: DeltaTable) -> int:
    return int(table.transaction_version(APP) or 0)


def _opened(dataset: ds.Dataset) -> Callable[[], ds.Dataset]:
    return lambda: dataset
