"""Tells by how many more messages are live after a commit, from its lines alone."""

from collections.abc import Set

import pyarrow as pa
import pyarrow.compute as pc

from state.admission import coordinates_of
from state.row import (
    CLOSED,
    ENTRY,
    KIND,
    OCCURRENCE,
    SKIPPED,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TOPIC,
    STATUS,
    SUPERSEDED,
    Entry,
    Kind,
    Status,
)
from state.version import Coordinates

_PLACE = [SOURCE_TOPIC, SOURCE_PARTITION, SOURCE_OFFSET, OCCURRENCE]
_CLOSED = pa.array(sorted(CLOSED), pa.string())


def made_live(lines: pa.Table, others: Set[Coordinates]) -> int:
    """Return how many messages become live by lines, less those whose end they tell.

    What a put or a cancel displaces is not told by its line, nor of what kind a row is by the line
    that ends it: ``others`` are those that are no messages.
    """
    entry, status = lines.column(ENTRY), lines.column(STATUS)
    outcome, claim = (pc.equal(entry, each.value) for each in (Entry.OUTCOME, Entry.CLAIM))
    fresh = pc.or_(pc.is_valid(lines.column(SUPERSEDED)), pc.is_valid(lines.column(SKIPPED)))
    pending = pc.and_not(pc.equal(status, Status.PENDING.value), outcome)
    message = pc.equal(lines.column(KIND), Kind.MESSAGE.value)
    made = pc.and_(message, pc.or_(pending, pc.and_(claim, fresh)))
    ended = pc.and_(outcome, pc.is_in(status, _CLOSED))
    besides = sum(place in others for place in _places(lines, ended)) if others else 0
    return _count(made) - _count(ended) + besides


def other_kinds(rows: pa.Table) -> set[Coordinates]:
    """Return the rows that are known to be no messages."""
    other = pc.fill_null(pc.not_equal(rows.column(KIND), Kind.MESSAGE.value), False)
    return set(_places(rows, other)) if _count(other) else set()


def _count(which: pa.ChunkedArray) -> int:
    return int(pc.sum(which).as_py() or 0)


def _places(rows: pa.Table, which: pa.ChunkedArray) -> list[Coordinates]:
    return list(coordinates_of(rows.select(_PLACE).filter(which)))  # without their contents
