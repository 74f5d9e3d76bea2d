"""Draws up the ledger and the other figures of a state."""

from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc

from state.inspector import Ledger, Stats
from state.pausing import Paused
from state.resolve import Counts
from state.row import CLOSED, DUE, KIND, LIVE, PARKED, STATUS, Kind, Status
from state.select import least_due, pending_by_topic

# By status, kind, output topic and whether it is parked: how many, and the least due among them.
Live = dict[tuple[str, str, str | None, bool], tuple[int, int]]


def stats_of_live(counts: Counts, live: Live, last_batch: int, now: int, pauses: Paused) -> Stats:
    """Return the figures of a state whose live rows are counted already."""
    standing: Counter[str] = Counter()
    by_topic: Counter[str] = Counter()
    paused = 0
    for (status, kind, topic, is_parked), (count, _) in live.items():
        paused += count if is_parked and status == Status.PENDING else 0
        if kind == Kind.MESSAGE:
            standing[status] += count
            if status == Status.PENDING:
                by_topic[str(topic)] += count
    pending = [
        due
        for (status, _, _, is_parked), (_, due) in live.items()
        if status == Status.PENDING and not is_parked
    ]
    overdue = [due for _, due in live.values() if due < now]
    return Stats(
        ledger=ledger_of(counts, standing),
        last_batch=last_batch,
        next_due=min(pending, default=None),
        oldest_overdue=min(overdue, default=None),
        pending_by_topic=dict(by_topic),
        paused=paused,
        pauses=pauses,
    )


def stats_of(counts: Counts, live: pa.Table, last_batch: int, now: int, pauses: Paused) -> Stats:
    """Return the figures of a state: ends are counted as they happened, live rows as they stand."""
    pending = live.filter(pc.field(STATUS) == Status.PENDING.value)
    return Stats(
        ledger=ledger_of(counts, _standing(live)),
        last_batch=last_batch,
        next_due=least_due(pending.filter(pc.field(DUE) < PARKED)),
        oldest_overdue=least_due(live.filter(pc.field(DUE) < now)),
        pending_by_topic=pending_by_topic(live),
        paused=pending.filter(pc.field(DUE) >= PARKED).num_rows,
        pauses=pauses,
    )


def _standing(live: pa.Table) -> Counter[str]:
    messages = live.filter(pc.field(KIND) == Kind.MESSAGE.value)
    counted = pc.value_counts(messages.column(STATUS)).to_pylist()
    return Counter({row["values"]: row["counts"] for row in counted})


def ledger_of(counts: Counts, standing: Counter[str]) -> Ledger:
    """Return the ledger: ends as they were counted, and how many messages are live now."""
    ends = {status: counts.ends[status] for status in sorted(CLOSED)}
    ends |= {status: standing[status.value] for status in sorted(LIVE)}
    return Ledger(counts.accepted, ends, counts.rejected, counts.late_cancels, counts.missed)
