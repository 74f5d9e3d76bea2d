"""Tells what happened between two states of the same tables."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from state.errors import StateError
from state.inspector import Filter, Inspector
from state.key_text import key_text
from state.readable import TIME
from state.row import (
    CHANGED_AT,
    DUE,
    KEY,
    OCCURRENCE,
    OUTPUT_TOPIC,
    PARKED,
    REASON,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TOPIC,
    STATUS,
)
from state.version import Coordinates

_VERSION = [SOURCE_TOPIC, SOURCE_PARTITION, SOURCE_OFFSET, OCCURRENCE]
_COLUMNS = [*_VERSION, KEY, OUTPUT_TOPIC, STATUS, DUE, REASON, CHANGED_AT]

CHANGES = pa.schema(
    [
        pa.field("key", pa.string()),
        pa.field("topic", pa.string()),
        pa.field("before", pa.string()),  # its status then; null where it was not there yet
        pa.field("after", pa.string()),
        pa.field("due_before", TIME),  # null also while it is paused
        pa.field("due_after", TIME),
        pa.field("reason", pa.string()),
        pa.field("partition", pa.int32()),  # the record that made it
        pa.field("offset", pa.int64()),
        pa.field("occurrence", pa.int32()),
        pa.field("changed_at", TIME),
    ]
)

Row = dict[str, Any]


def difference(one: Inspector, other: Inspector) -> pa.Table:
    """Return the messages that are not the same in a later state as in an earlier one.

    Both are ``as_of`` two instants, or ``other`` is the state as it is. One line for each version
    of a key that came in, changed its status or was given another instant in between, ordered by
    the time of its last change. What has been forgotten since (state.keep_closed) is left out. What
    is held in memory is what has changed.
    """
    since, until = one.moment().at, other.moment().at
    if since is not None and until is not None and since > until:
        raise StateError("difference: the first state is the later one; give the earlier one first")
    changed = dict(_rows(other, Filter(changed_from=since)))
    offsets = pa.array({offset for _, _, offset, _ in changed}, pa.int64())
    known = {name: row for name, row in _rows(one, Filter(), offsets) if name in changed}
    lines = [_line(known.get(name), row) for name, row in changed.items()]
    told = [line for line in lines if not _is_same(line)]
    return pa.Table.from_pylist(told, CHANGES).sort_by(
        [(name, "ascending") for name in ("changed_at", "key", "offset", "occurrence")]
    )


def _rows(
    inspector: Inspector, where: Filter, offsets: pa.Array | None = None
) -> Iterator[tuple[Coordinates, Row]]:
    for part in inspector.scan(where, _COLUMNS):
        alike = part if offsets is None else part.filter(pc.field(SOURCE_OFFSET).isin(offsets))
        for row in alike.to_pylist():
            topic, partition, offset, occurrence = (row[name] for name in _VERSION)
            yield (topic, partition, offset, occurrence), row


def _line(before: Row | None, after: Row) -> Row:
    return {
        "key": key_text(after[KEY]),
        "topic": after[OUTPUT_TOPIC],
        "before": before and before[STATUS],
        "after": after[STATUS],
        "due_before": before and _due(before),
        "due_after": _due(after),
        "reason": after[REASON],
        "partition": after[SOURCE_PARTITION],
        "offset": after[SOURCE_OFFSET],
        "occurrence": after[OCCURRENCE],
        "changed_at": after[CHANGED_AT],
    }


def _due(row: Row) -> int | None:
    return None if row[DUE] >= PARKED else int(row[DUE])


def _is_same(line: Row) -> bool:
    return (line["before"], line["due_before"]) == (line["after"], line["due_after"])
