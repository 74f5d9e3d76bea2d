"""Keeps the state in memory: for tests, and for trying things out without a disk."""

import uuid
from collections.abc import Iterator, Sequence

import pyarrow as pa

from state.admission import (
    HighMarks,
    Marks,
    not_taken,
    raise_marks,
    versions_of,
    without_effect,
)
from state.claims import within
from state.columns import reshape
from state.figures import Figures, live_in
from state.held import Held
from state.inspector import Filter, Inspector, Moment, Stats, Waiting, no_earlier
from state.ledger import stats_of
from state.lines import (
    LINES,
    SEQ,
    claim_lines,
    command_lines,
    full_outcome_line,
    moved_lines,
    outcome_lines,
    repeat_lines,
)
from state.outcomes import attempts_in, one_per_version, overtaken, without_known_attempts
from state.pausing import UNPARK_ROWS, Paused
from state.repeating import choose
from state.resolve import Known, may_act
from state.row import DUE, LIVE, PARKED, ROW, SCHEDULED, SOURCE_OFFSET, STATUS, Status
from state.select import by_due, by_version, expression, first, key_is
from state.store import Tick
from state.tally import Tally
from state.version import Coordinates, Version
from state.waiting import waiting_by


class MemoryStore:
    """A store and its own inspector; everything is gone when the process ends."""

    keeps_earlier = False

    def __init__(self, keep_closed: int) -> None:
        self._id = str(uuid.uuid4())
        self._keep_closed = keep_closed
        self._last_batch = -1
        self._seq = 0
        self._taken = HighMarks()
        self._newest: dict[bytes, Version] = {}
        self._held = Held()
        self._paused = Paused()
        self._made: dict[int, pa.Table] = {}

    @property
    def state_id(self) -> str:
        """Name this state for good."""
        return self._id

    @property
    def last_batch(self) -> int:
        """The newest committed batch, -1 before the first."""
        return self._last_batch

    @property
    def paused(self) -> Paused:
        """What is paused as of the last commit."""
        return self._paused

    @property
    def outcomes_at_once(self) -> int | None:
        """Any number."""
        return None

    def commit(self, tick: Tick) -> pa.Table:
        """Commit one micro-batch and return its claims."""
        if tick.batch <= self._last_batch:
            return self._made.get(tick.batch, ROW.empty_table())
        commands = not_taken(tick.commands, self._taken)
        paused = self._paused if tick.paused is None else tick.paused
        said = [
            self._unparked(tick, paused),
            *self._outcomes(tick.outcomes, tick.batch, tick.now),
            self._judged(commands, tick.batch, tick.now),
        ]
        lines = pa.concat_tables(said)
        self._write(lines)
        claims, parked = self._claim(tick, paused)
        if lines.num_rows or claims.num_rows or parked or paused != self._paused:
            self._last_batch, self._made[tick.batch] = tick.batch, claims
        self._paused = paused
        return claims

    def claims_of(self, batch: int) -> pa.Table:
        """Return the claims that ``batch`` made and that no outcome has closed yet."""
        return by_due(self._held.rows(k for k in self._claimed() if k.claim == batch))

    def unsettled(self) -> pa.Table:
        """Return every claimed row, ordered by due."""
        return by_due(self._held.rows(self._claimed()))

    def settle(self, outcomes: pa.Table, now: int) -> None:
        """Record outcomes outside of a batch."""
        lines = self._outcomes(outcomes, self._last_batch, now)
        self._write(pa.concat_tables([LINES.empty_table(), *lines]))

    def take(self, commands: pa.Table, upto: Marks, now: int, lanes: int) -> None:
        """Commit commands outside of a batch."""
        fresh = not_taken(commands, self._taken)
        self._write(self._judged(fresh, self._last_batch, now))
        self._taken.raise_all(HighMarks(upto))

    def pending(self, identities: Sequence[bytes], whole: bool) -> pa.Table:
        """Return the pending versions of some identities."""
        named = [known for i in dict.fromkeys(identities) for known in self._held.of(i)]
        return self._held.rows(k for k in named if k.status is Status.PENDING)

    def next_due(self) -> int | None:
        """Return the least due of all pending rows; None when there is none."""
        dues = (k.due for k in self._held if k.status is Status.PENDING and k.due < PARKED)
        return min(dues, default=None)

    def figures(self, now: int) -> Figures:
        """Tell how the state stands."""
        overdue = sum(k.status is Status.PENDING and k.due < now for k in self._held)
        counts = self._held.counts.copy()
        return Figures(live_in(counts), overdue, counts)

    def maintain(self, now: int, busy: bool = False) -> None:
        """Forget what was closed long enough ago."""
        self._held.forget_closed(now - self._keep_closed)
        for identity in [i for i in self._newest if not self._held.knows(i)]:
            del self._newest[identity]

    def renew(self) -> None:
        """Find that nobody else can have written it."""

    def give_up(self) -> None:
        """Nothing is waited for."""

    def close(self) -> None:
        """Nothing to let go of."""

    def rows(self, where: Filter, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the rows that match, in the order asked for."""
        found = first(self._held.rows(self._held).filter(expression(where)), where)
        return found.select(columns or ROW.names)

    def scan(self, where: Filter, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield some columns of the rows that match."""
        yield self._held.rows(self._held).filter(expression(where)).select(columns)

    def tally(
        self, where: Filter, by: Sequence[str], every: int | None = None, of: str = DUE
    ) -> pa.Table:
        """Count the rows that match."""
        counted = Tally(by, every, of)
        counted.add(self._held.rows(self._held).filter(expression(where)))
        return counted.table()

    def moment(self) -> Moment:
        """Name no commit: their times are not kept."""
        return Moment(None)

    def as_of(self, instant: int) -> Inspector:
        """There are no earlier states here."""
        raise no_earlier("memory")

    def versions(
        self, key: bytes, source_topic: str | None = None, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Return every version of a key that is still known, oldest first."""
        found = by_version(self._held.rows(self._held).filter(key_is(key, source_topic)))
        return found.select(columns or ROW.names)

    def stats(self, now: int) -> Stats:
        """Count."""
        live = self._held.rows(k for k in self._held if k.status in LIVE)
        return stats_of(self._held.counts, live, self._last_batch, now, self._paused)

    def waiting(self) -> list[Waiting]:
        """Count the pending messages of each output topic."""
        return waiting_by(self.tally)

    def _judged(self, commands: pa.Table, batch: int, now: int) -> pa.Table:
        named = versions_of(commands)
        late = without_effect(commands, named, self._newest_of(named))
        for (identity, version), stale in zip(named, late, strict=True):
            if not stale:
                self._newest[identity] = version
        raise_marks(self._taken, commands, SOURCE_OFFSET)
        return command_lines(commands, late, batch, now)

    def _attempt_of(self, identity: bytes, coordinates: Coordinates) -> int:
        known = self._held.get(identity, coordinates)
        return attempts_in(None if known is None else self._held.rows([known]))

    def _newest_of(self, named: Sequence[tuple[bytes, Version]]) -> list[Version | None]:
        return [self._newest.get(identity) for identity, _ in named]

    def _outcomes(self, outcomes: pa.Table, batch: int, now: int) -> list[pa.Table]:
        lines = []
        outcomes = without_known_attempts(outcomes, self._attempt_of)
        outcomes = overtaken(one_per_version(outcomes), self._newest_of)
        for i, (identity, version) in enumerate(versions_of(outcomes)):
            known = self._held.get(identity, version.coordinates)
            outcome = outcomes.slice(i, 1)
            status = outcome.column(STATUS)[0].as_py()
            if known is None or not may_act(known, status):
                continue
            if status == Status.PENDING:
                row = self._held.rows([known])
                lines.append(full_outcome_line(row, outcome, batch, now))
            else:
                lines.append(outcome_lines(outcome, batch, now))
        return lines

    def _unparked(self, tick: Tick, paused: Paused) -> pa.Table:
        parked = (k for k in self._held if k.status is Status.PENDING and k.due == PARKED)
        rows = by_due(self._held.rows(parked))
        rows = rows.filter(pa.array(~paused.held(rows))).slice(0, UNPARK_ROWS)
        return moved_lines(rows, rows.column(SCHEDULED), tick.batch, tick.now)

    def _claim(self, tick: Tick, paused: Paused) -> tuple[pa.Table, int]:
        due = (k for k in self._held if k.status is Status.PENDING and k.due <= tick.claim_until)
        rows = within(by_due(self._held.rows(due)), tick.room)
        back, rows, _ = paused.parted(rows)
        parked = moved_lines(back, PARKED, tick.batch, tick.now)
        chosen = choose(rows, tick)
        claims = claim_lines(chosen.claims, tick.batch, tick.now)
        upcoming = repeat_lines(chosen.upcoming, tick.batch, tick.now)
        self._write(pa.concat_tables([parked, claims, upcoming]))
        return reshape(claims, ROW), parked.num_rows

    def _claimed(self) -> list[Known]:
        return [k for k in self._held if k.status is Status.CLAIMED]

    def _write(self, lines: pa.Table) -> None:
        self._seq += 1
        self._held.add(reshape(lines, LINES, {SEQ: self._seq}))
