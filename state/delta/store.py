"""The state store in Delta tables.

A tick is one append to the changelog. What it needs to know beforehand is in memory: the near
window, the claimed rows, the newest versions. So it costs as much as it says and claims,
whatever is pending. Calls from several threads take turns.
"""

from collections.abc import Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from state.admission import (
    HighMarks,
    Marks,
    not_taken,
    raise_marks,
    versions_of,
    without_effect,
)
from state.claims import Room
from state.columns import reshape
from state.delta.balance import made_live
from state.delta.commit_lines import fresh_puts_only, numbered, without_claimed_puts
from state.delta.inspector import claims_made
from state.delta.keeper import WindowKeeper
from state.delta.keys import Keys
from state.delta.outcome_lines import OutcomeLines
from state.delta.recall import Commit, Mind, recall
from state.delta.recents import newest_commands
from state.delta.snapshot import clock_meta
from state.delta.tables import Tables
from state.delta.tail import tail_of
from state.delta.upkeep import Upkeep
from state.delta.window import added_rows
from state.delta.writer import Writer
from state.figures import Figures
from state.lines import (
    claim_lines,
    clock_line,
    command_lines,
    moved_lines,
    repeat_lines,
)
from state.pausing import UNPARK_ROWS, Paused
from state.repeating import choose
from state.row import (
    COMMANDS,
    ENTRY,
    OUTCOMES,
    PARKED,
    ROW,
    SCHEDULED,
    SOURCE_OFFSET,
    Entry,
)
from state.settings import DeltaSettings
from state.store import Tick
from state.turns import TakesTurns, in_turn

_NO_ROOM = Room((0,))


class DeltaStore(TakesTurns):
    """Keeps schedules in the three tables; see state.store for what each call promises."""

    def __init__(
        self, tables: Tables, settings: DeltaSettings, writer: Writer, upkeep: Upkeep
    ) -> None:
        super().__init__()
        self._tables = tables
        self._settings = settings
        self._writer = writer
        self._upkeep = upkeep
        self._id = tables.state_id()
        self._mind: Mind | None = None
        self._keys = Keys(tables)
        self._keeper = self._new_keeper()
        self._known()

    @property
    def state_id(self) -> str:
        """Name this state for good."""
        return self._id

    @property
    @in_turn
    def last_batch(self) -> int:
        """The newest committed batch, -1 before the first."""
        return self._known().last_batch

    @property
    @in_turn
    def paused(self) -> Paused:
        """What is paused as of the last commit."""
        return self._known().paused

    @property
    def outcomes_at_once(self) -> int | None:
        """Any number: a batch is one append, whatever is in it."""
        return None

    @in_turn
    def commit(self, tick: Tick) -> pa.Table:
        """Commit one micro-batch and return its claims."""
        mind = self._known()
        if tick.batch <= mind.last_batch:
            return self._made(tick.batch)
        commands = not_taken(tick.commands, mind.taken)
        changes = commands.num_rows + tick.outcomes.num_rows
        paused = mind.paused if tick.paused is None else tick.paused
        mind.releasing = mind.releasing or paused != mind.paused
        self._keeper.make_ready(tick.now, tick.claim_until, tick.room.total, changes)
        if not (changes or mind.releasing or self._keeper.window.due_by(tick.claim_until)):
            return ROW.empty_table()
        back = self._unparked(tick, paused)
        ends, outcomes = self._outcomes().lines(tick.outcomes, tick.batch, tick.now)
        lines = self._judged(commands, tick.batch, tick.now)
        said = pa.concat_tables([ends, back, *outcomes, lines])
        is_due = self._keeper.window.due_by(tick.claim_until)
        if not (said.num_rows or is_due or paused != mind.paused):
            return ROW.empty_table()
        raise_marks(mind.taken, commands, SOURCE_OFFSET)
        mind.paused = paused
        return self._write(said, len(ends), tick)

    @in_turn
    def claims_of(self, batch: int) -> pa.Table:
        """Return the claims that ``batch`` made and that no outcome has closed yet."""
        return self._known().outstanding.of(batch)

    @in_turn
    def unsettled(self) -> pa.Table:
        """Return every claimed row, ordered by due."""
        return self._known().outstanding.rows()

    @in_turn
    def settle(self, outcomes: pa.Table, now: int) -> None:
        """Record outcomes outside of a batch."""
        last, nothing = self._known().last_batch, COMMANDS.empty_table()
        ends, others = self._outcomes().lines(outcomes, last, now)
        said = pa.concat_tables([ends, *others])
        if said.num_rows:
            self._write(said, len(ends), Tick(last, now, nothing, outcomes, 0, _NO_ROOM))

    @in_turn
    def take(self, commands: pa.Table, upto: Marks, now: int, lanes: int) -> None:
        """Commit commands outside of a batch; what is pending is then looked for anew."""
        mind = self._known()
        last, before = mind.last_batch, mind.taken.as_dict()
        fresh = not_taken(commands, mind.taken)
        lines = self._judged(fresh, last, now)
        raise_marks(mind.taken, fresh, SOURCE_OFFSET)
        mind.taken.raise_all(HighMarks(upto))
        if lines.num_rows or mind.taken.as_dict() != before:
            self._write(lines, 0, Tick(last, now, fresh, OUTCOMES.empty_table(), 0, _NO_ROOM))
            self._keeper.forget()  # whatever is overdue would fill it: nobody claims it here

    @in_turn
    def pending(self, identities: Sequence[bytes], whole: bool) -> pa.Table:
        """Return the pending versions of some identities."""
        mind = self._known()
        if mind.tail is None:
            mind.tail = tail_of(self._tables)
        return self._keys.pending(mind.tail, identities, whole)

    @in_turn
    def next_due(self) -> int | None:
        """Return an instant at or before the least due of all pending rows; None when none."""
        self._known()
        window = self._keeper.window
        least = window.least()
        return window.beyond if least is None else least

    @in_turn
    def figures(self, now: int) -> Figures:
        """Tell how the state stands, from memory."""
        mind = self._known()
        return Figures(
            pending=max(mind.live, 0),
            overdue=self._keeper.window.due_by(now - 1),
            counts=mind.counts,
            fold=self._upkeep.last_fold,
            unfolded=sum(commit.lines for commit in mind.unfolded),
        )

    @in_turn
    def maintain(self, now: int, busy: bool = False) -> None:
        """Load the next window, fold, refresh: each in the background, when it is time to."""
        mind = self._known()
        self._keeper.look_ahead(now)
        self._upkeep.go_on(mind, self._writer, now, busy)

    @in_turn
    def fold(self, now: int) -> None:
        """Fold at once and wait for it."""
        self._upkeep.fold_now(self._known(), now)

    @in_turn
    def renew(self) -> None:
        """Gather everything anew if the changelog has come further."""
        if self._tables.commits() != self._known().seq:
            self._mind = None
            self._known()

    def give_up(self) -> None:
        """Nothing is waited for: what a disk refuses ends the job."""

    @in_turn
    def close(self) -> None:
        """Let go of threads and processes; what was committed stays."""
        self._keeper.wait()
        self._keys.wait()
        self._upkeep.close()

    def _known(self) -> Mind:
        """Return what is known, gathered anew after a commit that failed half-way."""
        if self._mind is None:
            self._keeper.wait()
            self._keeper = self._new_keeper()
            mind = recall(self._tables, self._keys.live)
            if mind.last_change is not None:
                self._keeper.load(mind.last_change)
            self._mind = mind
        return self._mind

    def _new_keeper(self) -> WindowKeeper:
        return WindowKeeper(self._tables, self._settings.window, self._settings.window_rows)

    def _outcomes(self) -> OutcomeLines:
        mind, pending = self._known(), partial(self.pending, whole=True)
        near = (mind.outstanding, mind.closed, self._keeper.window)
        return OutcomeLines(self._tables, *near, pending, mind.recents.known)

    def _judged(self, commands: pa.Table, batch: int, now: int) -> pa.Table:
        """Return the lines of commands that are not taken yet."""
        named = versions_of(commands)
        late = without_effect(commands, named, self._known().recents.known(named))
        return command_lines(commands, late, batch, now)

    def _unparked(self, tick: Tick, paused: Paused) -> pa.Table:
        """Return the lines that bring back rows which are parked and not paused any more."""
        mind = self._known()
        rows = ROW.empty_table()
        if mind.releasing and paused.everything:
            mind.releasing = False  # until another tick says that something may go on
        if mind.releasing:
            tail = mind.tail or tail_of(self._tables)
            rows, mind.releasing = self._keys.parked(tail, paused, UNPARK_ROWS)
        return moved_lines(rows, rows.column(SCHEDULED), tick.batch, tick.now)

    def _made(self, batch: int) -> pa.Table:
        mind = self._known()
        return mind.made if batch == mind.last_batch else claims_made(self._tables, batch)

    def _write(self, said: pa.Table, ends: int, tick: Tick) -> pa.Table:
        """Claim, append and take note; when the append fails, nothing is known any more.

        The first ``ends`` lines end claimed rows: the window does not hold them.
        """
        mind, window, batch, now = self._known(), self._keeper.window, tick.batch, tick.now
        self._mind = None
        said = numbered(said, mind.seq + 1, mind.line + 1)
        displaced = window.apply(said.slice(ends), added_rows(said.slice(ends), window.end))
        rows, slots = window.due(tick.claim_until, tick.room)
        back, rows, held = mind.paused.parted(rows)
        parked = moved_lines(back, PARKED, batch, now)
        window.take_out(slots[held])
        chosen = choose(rows, tick)
        window.take_out(slots[~held][chosen.origins])
        claims = claim_lines(fresh_puts_only(chosen.claims, mind.line), batch, now)
        upcoming = repeat_lines(chosen.upcoming, batch, now)
        clock = clock_line(batch, now, clock_meta(mind.taken.as_dict(), mind.paused))
        kept = without_claimed_puts(said, claims)
        lines = pa.concat_tables([kept, parked, claims, upcoming, clock])
        lines = numbered(lines, mind.seq + 1, mind.line + 1)
        upcoming = lines.slice(lines.num_rows - 1 - upcoming.num_rows, upcoming.num_rows)
        window.apply(upcoming, added_rows(upcoming, window.end))
        self._writer.append(lines, mind.seq + 1)
        self._mind = mind
        mind.seq, mind.line = mind.seq + 1, mind.line + lines.num_rows
        change = made_live(lines, mind.outstanding.others) - displaced
        mind.committed(Commit(mind.seq, batch, lines.num_rows, now, change))
        return self._remember(lines, reshape(claims, ROW), batch)

    def _remember(self, lines: pa.Table, claims: pa.Table, batch: int) -> pa.Table:
        mind = self._known()
        mind.recents.add(versions_of(newest_commands(lines)))
        outcomes = pc.equal(lines.column(ENTRY), Entry.OUTCOME.value)
        self._outcomes().settled(lines.filter(outcomes))
        mind.outstanding.add(claims)
        if batch > mind.last_batch:
            mind.last_batch, mind.made = batch, claims
        self._keeper.committed(mind.seq, lines)
        if mind.tail is not None:
            mind.tail.add(lines)
        return claims
