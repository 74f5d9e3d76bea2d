"""Writes down what a micro-batch says, as lines of the changelog."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from state.columns import reshape
from state.resolve import Line
from state.row import (
    ATTEMPT,
    BATCH,
    CHANGED_AT,
    CLAIM,
    DUE,
    ENTRY,
    IDENTITY,
    KEPT,
    KIND,
    OCCURRENCE,
    OUTCOME_FIELDS,
    OUTPUT_TOPIC,
    PUBLISHED_OFFSET,
    ROW,
    SCHEDULED,
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

SEQ = "seq"  # the commit, counted from 1; it grows also where the batch does not
LINE = "line"  # the place in the whole changelog
META = "meta"

LINES = pa.schema(
    [
        pa.field(ENTRY, pa.string()),
        *ROW,
        pa.field(SUPERSEDED, pa.int32()),
        pa.field(SKIPPED, pa.int64()),
        pa.field(SEQ, pa.int64()),
        pa.field(LINE, pa.int64()),
        pa.field(META, pa.string()),
    ]
)

# All that resolving needs: everything but the content of a row.
LIGHT = [
    ENTRY,
    IDENTITY,
    SOURCE_TOPIC,
    SOURCE_PARTITION,
    SOURCE_OFFSET,
    OCCURRENCE,
    KIND,
    STATUS,
    DUE,
    PUBLISHED_OFFSET,
    CLAIM,
    SUPERSEDED,
    SKIPPED,
    SEQ,
    BATCH,
    CHANGED_AT,
]


def command_lines(commands: pa.Table, stale: Sequence[bool], batch: int, now: int) -> pa.Table:
    """Return one line per command; ``stale`` tells which of them have no effect."""
    entry = commands.column(ENTRY)
    rejected = pc.equal(entry, Entry.REJECT.value)
    ordered = pc.equal(entry, Entry.COMMAND.value)
    unanswered = pc.and_(ordered, pc.is_null(commands.column(OUTPUT_TOPIC)))
    live = pc.if_else(
        pc.equal(entry, Entry.CANCEL.value), Status.CANCELLED.value, Status.PENDING.value
    )
    live = pc.if_else(unanswered, Status.DONE.value, live)
    other = pc.if_else(ordered, Kind.COMMAND.value, Kind.MESSAGE.value)
    due = pc.coalesce(commands.column(DUE), pa.scalar(now, pa.int64()))
    of_key = pc.invert(pc.or_(rejected, ordered))
    late = pc.and_(pa.chunked_array([pa.array(stale, pa.bool_())]), of_key)
    return reshape(
        commands,
        LINES,
        {
            OCCURRENCE: pc.fill_null(commands.column(OCCURRENCE), 0),
            STATUS: pc.if_else(late, Status.REPLACED.value, live),
            KIND: pc.if_else(rejected, Kind.REJECTION.value, other),
            DUE: due,
            SCHEDULED: pc.coalesce(commands.column(SCHEDULED), due),
            SUPERSEDED: pc.coalesce(commands.column(SUPERSEDED), pa.scalar(0, pa.int32())),
            ATTEMPT: 0,
            BATCH: batch,
            CHANGED_AT: now,
        },
    )


def outcome_lines(outcomes: pa.Table, batch: int, now: int) -> pa.Table:
    """Return one line per outcome that ends a version; such a line carries no content."""
    same = {ENTRY: Entry.OUTCOME.value, BATCH: batch, CHANGED_AT: now}
    named = pc.fill_null(outcomes.column(OCCURRENCE), 0)
    return reshape(outcomes, LINES, {OCCURRENCE: named, **same})


def full_outcome_line(row: pa.Table, outcome: pa.Table, batch: int, now: int) -> pa.Table:
    """Return the line of an outcome together with the row it acts on, content and all."""
    back = outcome.column(STATUS)[0].as_py() == Status.PENDING
    said = [f.name for f in OUTCOME_FIELDS if f.name != STATUS]
    kept = {DUE, *(said if back else KEPT)}  # unless the outcome says otherwise
    values: dict[str, object] = {name: outcome.column(name) for name in (STATUS, *said)}
    values |= {name: pc.coalesce(outcome.column(name), row.column(name)) for name in kept}
    if back:
        values[CLAIM] = None
    values |= {ENTRY: Entry.OUTCOME.value, BATCH: batch, CHANGED_AT: now}
    return reshape(row, LINES, values)


def moved_lines(rows: pa.Table, due: object, batch: int, now: int) -> pa.Table:
    """Return the lines that give pending rows another due instant and leave them pending."""
    same = {ENTRY: Entry.OUTCOME.value, STATUS: Status.PENDING.value, BATCH: batch}
    same |= dict.fromkeys((CLAIM, SUPERSEDED, SKIPPED)) | {CHANGED_AT: now, DUE: due}
    return reshape(rows, LINES, same)


def claim_lines(rows: pa.Table, batch: int, now: int) -> pa.Table:
    """Return the lines that claim ``rows`` for ``batch``."""
    return reshape(
        rows,
        LINES,
        {
            ENTRY: Entry.CLAIM.value,
            STATUS: Status.CLAIMED.value,
            CLAIM: batch,
            BATCH: batch,
            CHANGED_AT: now,
        },
    )


def repeat_lines(rows: pa.Table, batch: int, now: int) -> pa.Table:
    """Return the lines of occurrences that follow claimed ones."""
    same = {ENTRY: Entry.REPEAT.value, STATUS: Status.PENDING.value, BATCH: batch, CHANGED_AT: now}
    return reshape(rows, LINES, same)


def clock_line(batch: int, now: int, meta: str) -> pa.Table:
    """Return the line that closes a commit and carries what a restart must know."""
    one = {ENTRY: [Entry.CLOCK.value], BATCH: [batch], CHANGED_AT: [now], META: [meta]}
    return reshape(pa.table(one), LINES)


def light_lines(lines: pa.Table, first_ref: int = 0) -> Iterator[tuple[bytes, Line]]:
    """Yield identity and line of all that concern a schedule; the reference is the row's place."""
    columns = [lines.column(name).to_pylist() for name in LIGHT]
    for ref, row in enumerate(zip(*columns, strict=True), first_ref):
        entry, identity, *coordinates = row[:6]
        if entry != Entry.CLOCK:
            yield identity, Line._make((entry, tuple(coordinates), *row[6:], ref))
