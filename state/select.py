"""Picks, orders and counts rows of the state that are at hand as one Arrow table."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from state.cursor import ORDER, Cursor, Order
from state.fields import (
    bytes_are,
    bytes_begin,
    text_after,
    text_before,
    text_has,
    text_in,
    text_is,
)
from state.inspector import Filter
from state.row import (
    CHANGED_AT,
    DUE,
    KEY,
    KIND,
    OUTPUT_TOPIC,
    POLICY,
    REPEATS,
    SOURCE_TOPIC,
    STATUS,
    Kind,
    Status,
)


def by_due(rows: pa.Table) -> pa.Table:
    """Order rows as they are to go out."""
    return rows.take(as_due(rows))


def as_due(rows: pa.Table) -> pa.UInt64Array:
    """Return the places of the rows in the order in which they are to go out."""
    return pc.sort_indices(rows, sort_keys=[(name, "ascending") for name in ORDER])


def by_version(rows: pa.Table) -> pa.Table:
    """Order the versions of a key from the oldest to the newest."""
    return rows.sort_by([(name, "ascending") for name in [*ORDER[1:], DUE]])


def expression(where: Filter) -> pc.Expression:
    """Return the filter as an Arrow expression, for tables and for data sets alike."""
    return _all([pc.scalar(True), *_what(where), *_when(where)])


def _what(where: Filter) -> Iterator[pc.Expression]:
    if where.statuses is not None:
        yield text_in(STATUS, [Status(s).value for s in where.statuses])
    if where.output_topic is not None:
        yield text_is(OUTPUT_TOPIC, where.output_topic)
    if where.source_topic is not None:
        yield text_is(SOURCE_TOPIC, where.source_topic)
    if where.key is not None:
        yield bytes_are(KEY, where.key)
    if where.key_prefix:
        yield bytes_begin(KEY, where.key_prefix)
    if where.kind is not None:
        yield text_is(KIND, where.kind.value)
    if where.repeating:
        yield text_has(POLICY, REPEATS)


def _when(where: Filter) -> Iterator[pc.Expression]:
    if where.due_from is not None:
        yield pc.field(DUE) >= where.due_from
    if where.due_to is not None:
        yield pc.field(DUE) < where.due_to
    if where.changed_from is not None:
        yield pc.field(CHANGED_AT) >= where.changed_from
    if where.after is not None:
        yield lies_after(where.after)


def lies_after(cursor: Cursor) -> pc.Expression:
    """Return the expression that finds the rows after a place, in its order."""
    found = pc.scalar(False)
    for name, value in reversed(cursor.values.items()):
        found = _is_past(name, value, cursor.order) | (_is_at(name, value) & found)
    instant = pc.field(cursor.order.instant)  # lets files be skipped
    reached = instant <= cursor.instant if cursor.order.descends else instant >= cursor.instant
    return reached & found


def _is_past(name: str, value: int | str, order: Order) -> pc.Expression:
    if isinstance(value, str):
        return text_before(name, value) if order.descends else text_after(name, value)
    return pc.field(name) < value if order.descends else pc.field(name) > value


def _is_at(name: str, value: int | str) -> pc.Expression:
    return text_is(name, value) if isinstance(value, str) else pc.field(name) == value


def key_is(key: bytes, source_topic: str | None) -> pc.Expression:
    """Return the expression that finds the versions of a key."""
    found = bytes_are(KEY, key)
    return found if source_topic is None else found & text_is(SOURCE_TOPIC, source_topic)


def first(rows: pa.Table, where: Filter) -> pa.Table:
    """Bring rows into the order of a filter and keep as many as it wants."""
    way = "descending" if where.order.descends else "ascending"
    ordered = rows.sort_by([(name, way) for name in where.order.columns])
    return ordered if where.limit is None else ordered.slice(0, where.limit)


def pending_by_topic(rows: pa.Table) -> dict[str, int]:
    """Count the pending messages of each output topic."""
    pending = rows.filter(
        (pc.field(STATUS) == Status.PENDING.value) & (pc.field(KIND) == Kind.MESSAGE.value)
    )
    counted = pending.group_by(OUTPUT_TOPIC).aggregate([([], "count_all")])
    return {row[OUTPUT_TOPIC]: row["count_all"] for row in counted.to_pylist()}


def least_due(rows: pa.Table) -> int | None:
    """Return the least due instant among rows, None without any."""
    least = pc.min(rows.column(DUE)).as_py()
    return None if least is None else int(np.int64(least))


def _all(terms: list[pc.Expression]) -> pc.Expression:
    whole = terms[0]
    for term in terms[1:]:
        whole = whole & term
    return whole
