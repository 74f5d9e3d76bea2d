"""Collects what became of published messages until the next batch writes it to the state."""

import threading
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.observe.observer import SILENT, Observer, Settled
from pipeline.outbox.decision import Decision
from pipeline.outbox.item import Chunk, Item
from pipeline.outbox.publisher import Published, Receipt
from state import row
from state.columns import reshape
from state.row import Kind, Status

RECEIPT_UNKNOWN = "receipt_unknown"

Flushed = tuple[list[Item], Published]
Line = tuple[Item, Receipt | None]
_UNKNOWN = (None, None)


class Out(NamedTuple):
    """Which rows of a hand-over are out, when, and where they are."""

    claims: pa.Table
    index: pa.Array
    at: pa.Array
    partition: pa.Array
    offset: pa.Array


class Report:
    """Outcomes not yet in the state; losing them in a crash costs only the receipts."""

    def __init__(self, observer: Observer = SILENT) -> None:
        self._observer = observer
        self._lock = threading.Lock()
        self._flushes: list[Flushed] = []
        self._elsewhere: list[Out] = []

    def add(self, items: list[Item], published: Published) -> None:
        """Note how each item went out, or what was decided; a note says the latter once more."""
        with self._lock:
            self._flushes.append((items, published))

    def add_out(self, out: Out) -> None:
        """Note what others have published."""
        with self._lock:
            self._elsewhere.append(out)

    def take(self, most: int | None = None) -> pa.Table:
        """Return the outcomes so far and forget them; of more than ``most`` others stay for later.

        What executors have published is told all at once.
        """
        with self._lock:
            flushes, self._flushes = _cut(self._flushes, most)
            elsewhere, self._elsewhere = self._elsewhere, []
        out = [*out_of(flushes), *elsewhere]
        if (flushes or elsewhere) and self._observer.listens:
            self._observer.settled(lambda: _settled(flushes, out))
        return _outcomes(flushes, out)


def _cut(flushes: list[Flushed], most: int | None) -> tuple[list[Flushed], list[Flushed]]:
    """Divide flushes after the first ``most`` messages; one of them may be cut in two."""
    if most is None:
        return flushes, []
    for number, (items, published) in enumerate(flushes):
        if len(items) > most:
            first, rest = published.cut(most)
            return [*flushes[:number], (items[:most], first)], [
                (items[most:], rest),
                *flushes[number + 1 :],
            ]
        most -= len(items)
    return flushes, []


def closed_unseen(items: Iterable[Item]) -> pa.Table:
    """Return outcomes for items a marker says are out, whose receipts were lost in a crash."""
    out = list(items)
    flushes = [(out, Published(None, [None] * len(out), {}))]
    return _outcomes(flushes, out_of(flushes))


def settled_unseen(out: list[Item], decided: Iterable[tuple[Status, str]]) -> Settled:
    """Return the same for whoever keeps figures, with what was decided about others by notes."""
    flushes = [(out, Published(None, [None] * len(out), {}))]
    return replace(_settled(flushes, out_of(flushes)), decided=decided)


def ended(items: Iterable[Item], status: Status) -> pa.Table:
    """Return outcomes that give items a status without having been published."""
    nothing = (None,) * 5
    return _table([(*_version(item), status, *nothing, item.due, None, None) for item in items])


def _outcomes(flushes: Iterable[Flushed], out: Iterable[Out]) -> pa.Table:
    """Return the outcomes of all flushes, column by column: a backlog has a great many of them."""
    decided = [
        _decided(items[number], decision)
        for items, published in flushes
        for number, decision in published.decided.items()
    ]
    return pa.concat_tables([_table(decided), *map(_done, out)])


def out_of(flushes: Iterable[Flushed]) -> list[Out]:
    """Return what is out by the hand-over it came with."""
    out: defaultdict[Chunk, list[list[pa.Array]]] = defaultdict(list)
    for items, published in flushes:
        lines = list(zip(items, published.receipts, strict=True))
        if published.decided:
            lines = [line for n, line in enumerate(lines) if n not in published.decided]
        by_chunk: defaultdict[Chunk, list[Line]] = defaultdict(list)
        for line in lines:
            by_chunk[line[0].chunk].append(line)
        for chunk, of_chunk in by_chunk.items():
            out[chunk].append(_columns(of_chunk, published.at))
    return [
        Out(chunk.claims, *map(pa.concat_arrays, zip(*parts, strict=True)))
        for chunk, parts in out.items()
    ]


def _columns(lines: list[Line], at: int | None) -> list[pa.Array]:
    """Return the columns of an ``Out`` for messages of one hand-over that went out together."""
    places = [item.index for item, _ in lines]
    partitions, offsets = zip(*[receipt or _UNKNOWN for _, receipt in lines], strict=True)
    columns = (places, [at] * len(lines), partitions, offsets)
    return [pa.array(column, kind) for column, kind in zip(columns, _TYPES, strict=True)]


def nothing_out() -> list[pa.Array]:
    """Return the columns of an ``Out`` without rows."""
    return [pa.array([], kind) for kind in _TYPES]


def _done(out: Out) -> pa.Table:
    rows = out.claims.select(_TAKEN).take(out.index)
    rejected = pc.equal(rows[row.KIND], Kind.REJECTION.value)
    other = pc.not_equal(rows[row.KIND], Kind.MESSAGE.value)  # what it says of itself stays
    nothing = pa.scalar(None, pa.string())
    unknown = pc.if_else(pc.is_null(out.offset), pa.scalar(RECEIPT_UNKNOWN), nothing)
    return reshape(
        rows,
        row.OUTCOMES,
        {
            row.STATUS: pc.if_else(rejected, Status.DEAD.value, Status.DONE.value),
            row.REASON: pc.if_else(other, rows[row.REASON], unknown),
            row.DETAIL: pc.if_else(other, rows[row.DETAIL], nothing),
            row.PUBLISHED_PARTITION: out.partition,
            row.PUBLISHED_OFFSET: out.offset,
            row.PUBLISHED_AT: out.at,
        },
    )


def _settled(flushes: Iterable[Flushed], out: Iterable[Out]) -> Settled:
    """Return the same for whoever keeps figures."""
    decided = (
        (decision.status, decision.reason.value)
        for _, published in flushes
        for decision in published.decided.values()
    )
    empty = pa.schema([*(row.ROW.field(name) for name in _SEEN), _AT]).empty_table()
    return Settled(pa.concat_tables([empty, *map(_seen, out)]), decided)


def _seen(out: Out) -> pa.Table:
    return out.claims.select(_SEEN).take(out.index).append_column(_AT, out.at)


def _decided(item: Item, decision: Decision) -> tuple[object, ...]:
    outcome = decision.as_outcome()
    return (*_version(item), *(outcome.get(name) for name in _ENDS))


def _version(item: Item) -> tuple[object, ...]:
    return (item.identity, *item.version)


_TYPES = (pa.int64(), pa.int64(), pa.int32(), pa.int64())
_SEEN = [row.KIND, row.OUTPUT_TOPIC, row.SCHEDULED]
_AT = row.OUTCOMES.field(row.PUBLISHED_AT)
_TAKEN = [*(field.name for field in row.VERSION_FIELDS), row.KIND, row.REASON, row.DETAIL, row.DUE]
_ENDS = (
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
_COLUMNS = (*(field.name for field in row.VERSION_FIELDS), *_ENDS)


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
