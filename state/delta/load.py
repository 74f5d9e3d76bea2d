"""Loads the near window from the tables."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from state.columns import reshape
from state.crashpoint import Point, reach
from state.delta.layout import BUCKET, MARK_BUCKET
from state.delta.snapshot import Snapshot, is_live_row, look
from state.delta.tables import Tables, read
from state.delta.window import WINDOW_ROW, Window, added_rows
from state.fields import text_is
from state.lines import LINE, SEQ
from state.row import (
    DUE,
    IDENTITY,
    OCCURRENCE,
    PARKED,
    ROW,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    STATUS,
    SUPERSEDED,
    Status,
)

_PLACE = (SOURCE_PARTITION, SOURCE_OFFSET, OCCURRENCE)  # the identity tells the topic


class Loaded(NamedTuple):
    """A window, and the newest commit that it knows of."""

    window: Window
    seq: int


def load_window(tables: Tables, until: int, most: int) -> Loaded:
    """Load what is pending and due before ``until``, or as much of it as ``most`` rows allow."""
    snapshot = look(tables)
    pending = is_live_row() & text_is(STATUS, Status.PENDING.value)
    end = window_end(_dues(snapshot, pending & (pc.field(DUE) < until)), until, most)
    rows = read(snapshot.schedules, ROW.names, pending & (pc.field(DUE) < end))
    reach(Point.DURING_WINDOW_LOAD)
    window = Window(end, _beyond(snapshot.files, end))
    window.add(reshape(rows, WINDOW_ROW, {LINE: -1}))
    tail = _without_ended(snapshot.tail, window)
    window.apply(tail, _tail_rows(snapshot, tail, end))
    return Loaded(window, snapshot.seq)


def window_end(dues: npt.NDArray[np.int64], until: int, most: int) -> int:
    """Return the instant before which ``most`` rows are due, or ``until`` when there are fewer.

    Rows due at one instant stay together, so it may be some more.
    """
    if len(dues) <= most:
        return until
    return int(np.partition(dues, most - 1)[most - 1]) + 1


def _dues(snapshot: Snapshot, near: pc.Expression) -> npt.NDArray[np.int64]:
    """Return when rows are due that are pending for sure.

    Those that the tail speaks of may be claimed or gone: counted, they could fill a small window
    with nothing.
    """
    rows = read(snapshot.schedules, [IDENTITY, DUE], near)
    spoken_of = pc.is_in(rows.column(IDENTITY), snapshot.touched)
    dues: npt.NDArray[np.int64] = rows.filter(pc.invert(spoken_of)).column(DUE).to_numpy()
    return dues


def _without_ended(tail: pa.Table, window: Window) -> pa.Table:
    """Leave out keys that the tail made and ended, which are most: one by one they take long."""
    tail = tail.filter(pc.is_valid(tail.column(IDENTITY)))
    if tail.num_rows == 0:
        return tail
    keys = pc.dictionary_encode(tail.column(IDENTITY).combine_chunks())
    codes, names = keys.indices.to_numpy(), keys.dictionary.to_pylist()
    stays = np.fromiter((name in window for name in names), np.bool_, len(names))
    last = np.zeros(len(names), np.int64)
    last[codes] = np.arange(len(codes))  # of places assigned twice, the later one
    for name in _PLACE:
        place = tail.column(name).to_numpy()
        stays[codes[place != place[last][codes]]] = True  # several versions
    stays |= (pc.equal(tail.column(STATUS), Status.PENDING.value).to_numpy())[last]
    return tail.filter(pa.array(stays[codes]))


def _tail_rows(snapshot: Snapshot, tail: pa.Table, end: int) -> pa.Table:
    columns = [*ROW.names, SUPERSEDED, LINE]
    where = (pc.field(SEQ) > snapshot.mark.seq) & (pc.field(DUE) < end)
    where &= text_is(STATUS, Status.PENDING.value)
    rows = read(snapshot.changelog, columns, where)
    rows = rows.filter(pc.is_in(rows.column(LINE), tail.column(LINE).combine_chunks()))
    return added_rows(rows.sort_by(LINE), end)


def _beyond(files: pa.Table, end: int) -> int | None:
    """Return an instant at or before the least due of what the window leaves out."""
    if files.num_rows == 0:
        return None
    rows = files.filter(pc.field(f"partition.{BUCKET}") != MARK_BUCKET)
    if f"max.{DUE}" not in rows.schema.names or rows.num_rows == 0:
        return end if rows.num_rows else None
    later = rows.filter(pc.field(f"max.{DUE}") >= end)
    later = later.filter(pc.field(f"min.{DUE}") < PARKED)
    least = pc.min(later.column(f"min.{DUE}")).as_py()
    return None if least is None else max(end, int(least))
