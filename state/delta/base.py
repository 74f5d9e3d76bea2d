"""Loads what the last fold left into memory: live rows and the newest closed ones, light."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable

from state.columns import reshape
from state.cursor import Order
from state.delta.layout import HISTORY, SCHEDULES
from state.delta.light import LIGHT, LightRows
from state.delta.mark import Mark
from state.delta.snapshot import is_live_row, read_mark
from state.delta.tables import Tables, read, scannable
from state.delta.view import not_outdated
from state.fields import text_is
from state.lines import SEQ
from state.row import CHANGED_AT, HEADERS, STATUS, Status

MOST = 2_000_000  # rows of each table; a million of them take the process some 450 MB
_ROWS = "num_records"
_NEWEST = f"max.{CHANGED_AT}"
_WITHOUT_HEADERS = [name for name in LIGHT.names if name != HEADERS]


@dataclass(frozen=True)
class Base:
    """Rows as of one fold; closed ones that last changed at or before ``since`` are left out."""

    mark: Mark
    live: LightRows
    closed: LightRows
    since: int | None
    schedules: ds.Dataset
    history: ds.Dataset


def make_base(tables: Tables, most: int = MOST, most_closed: int = MOST) -> Base | None:
    """Load the tables as they are now; None when there are too many live rows to hold."""
    table = tables.open(SCHEDULES)
    if _row_count(_files(table)) > most:
        return None
    schedules = scannable(table)
    mark = read_mark(schedules)
    live = read(schedules, _WITHOUT_HEADERS, is_live_row())
    ended = tables.open(HISTORY)  # after schedules: it then has all that the mark speaks of
    history, since = scannable(ended), _left_out(_files(ended), most_closed)
    return Base(
        mark,
        LightRows(reshape(live, LIGHT), Order.NEXT_DUE),
        LightRows(_closed(history, mark, since), Order.LAST_CHANGED),
        since,
        schedules,
        history,
    )


def _closed(history: ds.Dataset, mark: Mark, since: int | None) -> pa.Table:
    # A row newer than the mark belongs to a fold that is not finished.
    where = pc.field(SEQ) <= mark.seq
    if since is not None:
        where &= pc.field(CHANGED_AT) > since
    is_dead = text_is(STATUS, Status.DEAD.value)
    others = read(history, _WITHOUT_HEADERS, where & ~is_dead)
    dead = read(history, LIGHT.names, where & is_dead)
    return not_outdated(pa.concat_tables([reshape(others, LIGHT), reshape(dead, LIGHT)]), mark)


def _files(table: DeltaTable) -> pa.Table:
    return pa.table(table.get_add_actions(flatten=True))


def _row_count(files: pa.Table) -> int:
    return int(pc.sum(files.column(_ROWS)).as_py() or 0) if files.num_rows else 0


def _left_out(files: pa.Table, most: int) -> int | None:
    """Return up to when closed rows are left out, so that the others are not too many."""
    if _row_count(files) <= most:
        return None
    ordered = files.sort_by([(_NEWEST, "descending")])
    held = np.cumsum(ordered.column(_ROWS).to_numpy())
    newest = ordered.column(_NEWEST).to_numpy()
    return int(newest[int(np.searchsorted(held, most, "right"))])
