"""Adds payloads to rows that were found in memory, reading as few files as can be."""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from state.admission import coordinates_of
from state.columns import reshape
from state.delta.current import Current
from state.delta.tables import read
from state.lines import LINE, SEQ
from state.row import (
    CHANGED_AT,
    CLOSED,
    DUE,
    HEADERS,
    IDENTITY,
    OCCURRENCE,
    OUTPUT_KEY,
    PAYLOAD,
    ROW,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TOPIC,
    STATUS,
)
from state.version import Coordinates

MOST = 200  # rows that are looked up one by one
_HEAVY = (PAYLOAD, HEADERS, OUTPUT_KEY)
_NAMED = [IDENTITY, SOURCE_TOPIC, SOURCE_PARTITION, SOURCE_OFFSET, OCCURRENCE]

Places = list[tuple[int, int]]  # two columns by which a row is found


def whole_rows(
    current: Current, rows: pa.Table, changelog: Callable[[], ds.Dataset]
) -> pa.Table | None:
    """Return rows (ROW), in the same order; None if the files say otherwise by now."""
    lines, live, closed = _sought(current, rows)
    base = current.base
    found = [
        _content(changelog, (SEQ, LINE), lines),
        _content(lambda: base.schedules, (DUE, SOURCE_OFFSET), live),
        _content(lambda: base.history, (CHANGED_AT, SOURCE_OFFSET), closed),
    ]
    contents = pa.concat_tables(found)
    at = {name: place for place, name in enumerate(_names(contents))}
    places = [at.get(name) for name in _names(rows)]
    if None in places:
        return None
    taken = contents.take(pa.array(places, pa.int64()))
    return reshape(rows, ROW, {name: taken.column(name) for name in _HEAVY})


def _names(rows: pa.Table) -> list[tuple[bytes, Coordinates]]:
    """Return what names each row; older states have commands at the place of what they moved."""
    return list(zip(rows.column(IDENTITY).to_pylist(), coordinates_of(rows), strict=True))


def _sought(current: Current, rows: pa.Table) -> tuple[Places, Places, Places]:
    """Return by what the content of each row is found: in the changelog, and in the tables."""
    lines: Places = []
    live: Places = []
    closed: Places = []
    columns = [rows.column(name).to_pylist() for name in (IDENTITY, STATUS, DUE, CHANGED_AT)]
    for name, identity, status, due, changed_at in zip(coordinates_of(rows), *columns, strict=True):
        version = current.version(identity, name)
        if version is None:
            in_history = status in CLOSED
            (closed if in_history else live).append((changed_at if in_history else due, name[2]))
            continue
        content = current.contents.slice(version.content, 1).to_pylist()[0]
        if content[LINE] is None:
            live.append((content[DUE], name[2]))
        else:
            lines.append((content[SEQ], content[LINE]))
    return lines, live, closed


def _content(data: Callable[[], ds.Dataset], by: Sequence[str], places: Places) -> pa.Table:
    """Read rows that two columns name; the first of them lets files and parts be skipped."""
    schema = pa.schema([ROW.field(name) for name in (*_NAMED, *_HEAVY)])
    if not places:
        return schema.empty_table()
    first, second = by
    terms = [(pc.field(first) == a) & (pc.field(second) == b) for a, b in places]
    return reshape(read(data(), schema.names, reduce(or_, terms)), schema)
