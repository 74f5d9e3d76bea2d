"""Draws up the ledger and the other figures of a state."""

from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc

from state.inspector import Ledger, Stats
from state.pausing import Paused
from state.resolve import Counts
from state.row import CLOSED, DUE, KIND, LIVE, PARKED, STATUS, Kind, Status
from state.select import least_due, pending_by_topic


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
