"""Turns what the steps tell into figures, column by column."""

from collections import Counter, deque
from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.clock import now_micros
from pipeline.observe import catalogue as the
from pipeline.observe.observer import Flushed, Lanes, Observer, Settled, Ticked
from pipeline.observe.tallies import Tallies
from pipeline.reasons import Reason
from state import row
from state.figures import Figures
from state.resolve import Counts
from state.row import Entry, Kind, Status

_SECOND = 1_000_000
_MOST_FLUSHES = 100_000
_ACCEPTED = pa.array([Entry.PUT.value, Entry.IGNORED.value], pa.string())
_TOLD = [row.SOURCE_TOPIC, row.REASON, row.SUPERSEDED]
_BY_KAFKA = (
    Reason.UNKNOWN_TOPIC,
    Reason.UNKNOWN_PARTITION,
    Reason.TOO_LARGE_FOR_TOPIC,
    Reason.NOT_AUTHORIZED,
    Reason.REFUSED_BY_BROKER,
)
_DECIDED = {Status.PENDING: the.RETRIED, Status.DEAD: the.DEAD}


class FiguresObserver(Observer):
    """Keeps the tallies."""

    listens = True

    def __init__(self, tallies: Tallies, clock: Callable[[], int] = now_micros) -> None:
        self._tallies = tallies
        self._clock = clock
        self._folds = 0
        self._totals: dict[the.Metric, int] = {}  # of the state, as last seen
        self._flushes: deque[float] = deque(maxlen=_MOST_FLUSHES)  # since the last tick
        self._next_due: int | None = None  # in the state
        self._overdue = 0  # in the state
        for reason in _BY_KAFKA:  # an alert on the first one needs a zero before it
            tallies.add(the.RETRIED, 0, reason=reason.value)
            tallies.add(the.DEAD, 0, reason=reason.value)

    def began(self, lanes: Callable[[], Lanes], reach_kafka: Callable[[], None]) -> None:
        """Look at the outbox whenever somebody asks."""
        ask = self._tallies.ask
        ask(the.WAITING, lambda: lanes().waiting)
        ask(the.HELD, lambda: lanes().held)
        ask(the.OVERDUE, lambda: lanes().overdue + self._overdue)
        ask(the.OVERDUE_AGE, lambda: self._age(self._least_due(lanes())))
        ask(the.NEXT_DUE, lambda: _seconds(self._least_due(lanes())))

    def taken(self, commands: pa.Table) -> None:
        """Count what was accepted and what was refused."""
        entry, commands = commands.column(row.ENTRY), commands.select(_TOLD)  # without contents
        accepted = commands.filter(pc.is_in(entry, _ACCEPTED))
        older = pc.sum(commands.column(row.SUPERSEDED)).as_py() or 0
        for topic, count in _counted(accepted.column(row.SOURCE_TOPIC)):
            self._tallies.add(the.ACCEPTED, count, topic=topic)
        if older:
            self._add_older(commands)
        rejected = commands.filter(pc.equal(entry, Entry.REJECT.value))
        if rejected.num_rows:
            for (topic, reason), count in _pairs(rejected, row.SOURCE_TOPIC, row.REASON):
                self._tallies.add(the.REJECTED, count, topic=topic, reason=reason)

    def settled(self, what: Callable[[], Settled]) -> None:
        """Count what is out and how late it was, and what was decided instead."""
        settled = what()
        out = settled.out.filter(pc.field(row.KIND) == Kind.MESSAGE.value)
        for topic, count in _counted(out.column(row.OUTPUT_TOPIC)):
            self._tallies.add(the.PUBLISHED, count, topic=topic)
        late = pc.subtract(out.column(row.PUBLISHED_AT), out.column(row.SCHEDULED)).drop_null()
        self._tallies.record(the.LATENESS, np.maximum(late.to_numpy(), 0) / _SECOND)
        for (status, reason), count in Counter(settled.decided).items():
            if status is Status.EXPIRED:
                self._tallies.add(the.EXPIRED, count)
            elif status in _DECIDED:
                self._tallies.add(_DECIDED[status], count, reason=reason)

    def flushed(self, flush: Flushed) -> None:
        """Note how long it took."""
        self._flushes.append(max(flush.ended_at - flush.began_at, 0) / _SECOND)

    def ticked(self, tick: Ticked) -> None:
        """Note how long it took, and how the state stands."""
        self._tallies.record(the.TICK, [tick.seconds])
        self._tallies.record(
            the.FLUSH, [self._flushes.popleft() for _ in range(len(self._flushes))]
        )
        for stage, seconds in tick.stages.items():
            self._tallies.record(the.STAGE, [seconds], stage=stage)
        self._tallies.set(the.LAST_TICK, _seconds(tick.ended_at))
        self._tallies.set(the.LOOKAHEAD, _seconds(tick.lookahead))
        if tick.standing is not None:
            self._next_due = tick.standing.next_due
            self._note(tick.standing.figures)

    def lagged(self, lag: Mapping[str, int]) -> None:
        """Note it."""
        for topic, records in lag.items():
            self._tallies.set(the.SOURCE_LAG, records, topic=topic)

    def _note(self, figures: Figures) -> None:
        self._overdue = figures.overdue
        self._tallies.set(the.PENDING, figures.pending)
        self._note_totals(_totals(figures.counts))
        self._tallies.set(the.UNFOLDED, figures.unfolded)
        fold = figures.fold
        if fold is not None and fold.number > self._folds:
            self._folds = fold.number
            self._tallies.record(the.FOLD, [fold.seconds])
            self._tallies.set(the.LAST_FOLD, _seconds(fold.ended_at))

    def _note_totals(self, totals: dict[the.Metric, int]) -> None:
        """Count by how much they have grown: a state is older than the job."""
        for metric, total in totals.items():
            before = self._totals.setdefault(metric, total)
            if total > before:
                self._tallies.add(metric, total - before)
                self._totals[metric] = total

    def _add_older(self, commands: pa.Table) -> None:
        """Count the messages that a newer one of the same batch has passed over."""
        sums = commands.group_by(row.SOURCE_TOPIC).aggregate([(row.SUPERSEDED, "sum")])
        for line in sums.to_pylist():
            if line[f"{row.SUPERSEDED}_sum"]:
                count = line[f"{row.SUPERSEDED}_sum"]
                self._tallies.add(the.ACCEPTED, count, topic=line[row.SOURCE_TOPIC])

    def _least_due(self, lanes: Lanes) -> int | None:
        dues = [due for due in (lanes.least_due, self._next_due) if due is not None]
        return min(dues, default=None)

    def _age(self, due: int | None) -> float:
        return 0.0 if due is None else max(self._clock() - due, 0) / _SECOND


def _totals(counts: Counts) -> dict[the.Metric, int]:
    return {
        the.CANCELLED: counts.ends[Status.CANCELLED],
        the.REPLACED: counts.ends[Status.REPLACED],
        the.MISSED: counts.missed,
        the.LATE_CANCELS: counts.late_cancels,
    }


def _seconds(micros: int | None) -> float | None:
    return None if micros is None else micros / _SECOND


def _counted(column: pa.ChunkedArray) -> list[tuple[str, int]]:
    return [(each["values"], each["counts"]) for each in pc.value_counts(column).to_pylist()]


def _pairs(rows: pa.Table, *names: str) -> list[tuple[tuple[str, str], int]]:
    counted = rows.group_by(list(names)).aggregate([([], "count_all")]).to_pylist()
    return [((str(c[names[0]]), str(c[names[1]])), c["count_all"]) for c in counted]
