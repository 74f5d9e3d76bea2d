"""Collects what became of published messages until the next batch writes it to the state."""

import threading
from collections.abc import Iterable

import pyarrow as pa

from pipeline.outbox.item import Item
from pipeline.outbox.publisher import Published
from pipeline.outbox.retry import Decision
from state import row
from state.row import Kind, Status

RECEIPT_UNKNOWN = "receipt_unknown"


class Report:
    """Outcomes not yet in the state; losing them in a crash costs only the receipts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: list[tuple[object, ...]] = []

    def add(self, items: list[Item], published: Published) -> None:
        """Note how each item went out, or what was decided; a note says the latter once more."""
        lines = [
            _decided(item, published.refused[number])
            if number in published.refused
            else _line(item, published.at, receipt)
            for number, (item, receipt) in enumerate(zip(items, published.receipts, strict=True))
        ]
        with self._lock:
            self._lines.extend(lines)

    def take(self) -> pa.Table:
        """Return the outcomes so far and forget them."""
        with self._lock:
            lines, self._lines = self._lines, []
        return _table(lines)


def closed_unseen(items: Iterable[Item]) -> pa.Table:
    """Return outcomes for items a marker says are out, whose receipts were lost in a crash."""
    return _table([_line(item, None, None) for item in items])


def ended(items: Iterable[Item], status: Status) -> pa.Table:
    """Return outcomes that give items a status without having been published."""
    nothing = (None,) * 5
    return _table([(*_version(item), status, *nothing, item.due, None, None) for item in items])


def _line(item: Item, at: int | None, receipt: tuple[int, int] | None) -> tuple[object, ...]:
    chunk, i = item.chunk, item.index
    rejected = chunk.kind[i] == Kind.REJECTION
    partition, offset = receipt or (None, None)
    unknown = None if receipt else RECEIPT_UNKNOWN
    return (
        *_version(item),
        Status.DEAD if rejected else Status.DONE,
        chunk.reason[i] if rejected else unknown,
        chunk.detail[i] if rejected else None,
        partition,
        offset,
        at,
        item.due,
        None,
        None,
    )


def _decided(item: Item, decision: Decision) -> tuple[object, ...]:
    attempts = decision.attempted_at
    return (
        *_version(item),
        Status.DEAD if decision.is_dead else Status.PENDING,
        decision.refusal.reason.value,
        decision.refusal.detail,
        None,
        None,
        attempts[-1] if decision.is_dead else None,
        decision.again_at,
        len(attempts),
        attempts,
    )


def _version(item: Item) -> tuple[object, ...]:
    chunk, i = item.chunk, item.index
    return (
        chunk.identity[i],
        chunk.source_topic[i],
        chunk.partition[i],
        chunk.offset[i],
        chunk.timestamp[i],
    )


_COLUMNS = (
    row.IDENTITY,
    row.SOURCE_TOPIC,
    row.SOURCE_PARTITION,
    row.SOURCE_OFFSET,
    row.SOURCE_TIMESTAMP,
    row.STATUS,
    row.REASON,
    row.DETAIL,
    row.PUBLISHED_PARTITION,
    row.PUBLISHED_OFFSET,
    row.PUBLISHED_AT,
    row.DUE,
    row.ATTEMPT,
    row.ATTEMPTED_AT,
)


def _table(lines: list[tuple[object, ...]]) -> pa.Table:
    columns = dict(zip(_COLUMNS, zip(*lines, strict=True), strict=True)) if lines else {}
    empty: tuple[object, ...] = (None,) * len(lines)
    return pa.table(
        {
            name: pa.array(columns.get(name, empty), row.OUTCOMES.field(name).type)
            for name in row.OUTCOMES.names
        },
        schema=row.OUTCOMES,
    )
