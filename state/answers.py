"""Answers what people ask of a state: what waits, what comes next, what became of a key.

Every function takes an inspector, of the state as it is or ``as_of`` an instant; instants are
microseconds. Tables that come back bear times in UTC and texts, and need no knowledge of the rows.
"""

from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from state.clock import MINUTE
from state.columns import reshape
from state.cursor import Cursor
from state.inspector import Filter, Inspector
from state.readable import READ, TIME, readable, times
from state.row import OUTPUT_TOPIC, PUBLISHED_AT, Status
from state.tally import COUNT, INSTANT

_SETTLED_WITHIN = 10 * MINUTE  # a receipt is written in a batch after; its time may be before it

PENDING = pa.schema(
    [
        pa.field("topic", pa.string()),
        pa.field("pending", pa.int64()),  # all that wait, those held back by a pause included
        pa.field("paused", pa.int64()),
        pa.field("first_due", TIME),  # of those that are not paused
        pa.field("last_due", TIME),
    ]
)
PUBLISHED = pa.schema(
    [pa.field("time", TIME), pa.field("topic", pa.string()), pa.field("published", pa.int64())]
)


class Page(NamedTuple):
    """A part of a list, and where the next one begins: None at the end."""

    rows: pa.Table
    after: Cursor | None


def page(inspector: Inspector, where: Filter, size: int = 100) -> Page:
    """Return the first ``size`` rows that match, in the order asked for, in columns for people.

    ``where.after`` of the next call is ``after`` of this one. Rows that come and go between two
    calls neither shift the pages nor show up twice.
    """
    found = inspector.rows(replace(where, limit=size + 1), READ)
    shown = found.slice(0, size)
    last = shown.slice(size - 1).to_pylist() if found.num_rows > size else []
    return Page(readable(shown), Cursor.of(last[0], where.order) if last else None)


def history(inspector: Inspector, key: bytes | str, source_topic: str | None = None) -> pa.Table:
    """Return every version of a key that is still known, oldest first, in columns for people."""
    name = key.encode() if isinstance(key, str) else key
    return readable(inspector.versions(name, source_topic, READ))


def pending_by_topic(inspector: Inspector) -> pa.Table:
    """Count what is pending by output topic, with the first and the last due instant of each."""
    lines = [dict(zip(PENDING.names, line, strict=True)) for line in inspector.waiting()]
    return pa.Table.from_pylist(lines, PENDING)


def throughput(
    inspector: Inspector, since: int, until: int | None = None, step: int = MINUTE
) -> pa.Table:
    """Count what was published, by the begin of each ``step`` and by output topic.

    Only what has a receipt and is still known counts: closed rows are forgotten after
    state.keep_closed. Steps in which nothing went out have no line.
    """
    done = Filter(statuses=[Status.DONE], changed_from=since - _SETTLED_WITHIN)
    counted = inspector.tally(done, [OUTPUT_TOPIC], every=step, of=PUBLISHED_AT)
    counted = counted.filter(pc.field(INSTANT) >= since - since % step)
    if until is not None:
        counted = counted.filter(pc.field(INSTANT) < until)
    ordered = counted.sort_by([(INSTANT, "ascending"), (OUTPUT_TOPIC, "ascending")])
    columns = {"time": times(ordered.column(INSTANT)), "topic": ordered.column(OUTPUT_TOPIC)}
    return reshape(ordered, PUBLISHED, columns | {"published": ordered.column(COUNT)})


def busiest(inspector: Inspector, since: int, seconds: int = 1) -> float:
    """Return the highest rate, in messages a second, at which messages went out since an instant.

    What the job can do may be more: it publishes no quicker than messages fall due.
    """
    step = seconds * 1_000_000
    found = throughput(inspector, since, step=step)
    totals = found.group_by("time").aggregate([("published", "sum")]).column("published_sum")
    most = pc.max(totals).as_py()
    return 0.0 if most is None else most / seconds
