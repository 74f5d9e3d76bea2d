"""What happens to each micro-batch: retract, commit, hand over. The sink of the topology."""

import logging
import math
import threading
import time

import pyarrow as pa

from pipeline.backlog import Backlog
from pipeline.clock import instant_text, now_micros
from pipeline.deliberate import Decided, deliberate
from pipeline.horizon import Horizon
from pipeline.measure import Measure
from pipeline.observe.observer import SILENT, Observer, Standing, Ticked
from pipeline.outbox.item import Item
from pipeline.outbox.outbox import Outbox
from pipeline.outbox.report import closed_unseen, ended, settled_unseen
from pipeline.outbox.told import Notes
from pipeline.said import Read, Said, identities, said_in
from state.crashpoint import Point, reach
from state.errors import StateError
from state.row import Entry, Status
from state.store import Store, Tick

log = logging.getLogger(__name__)

_MUCH = 10_000  # messages overdue: the processors are for them ...
_GIVE_WAY = 2.0  # ... for so many seconds before the next batch begins, at the longest
_ASK_EVERY = 2.0  # seconds from one look at the state's figures to the next
_ASK_AGAIN = 60.0  # the same after one that failed


class Ticker:
    """Takes every batch of lines to the store and to the outbox, one at a time."""

    def __init__(
        self,
        store: Store,
        outbox: Outbox,
        horizon: Horizon,
        backlog: Backlog,
        measure: Measure,
        miss_after: int = 30_000_000,
        observer: Observer = SILENT,
        once: bool = False,
        defers: bool = True,
    ) -> None:
        """Begin; ``defers`` says whether an outcome may be told later than the next batch."""
        self._once = once
        self._defers = defers and not once
        self._store = store
        self._outbox = outbox
        self._horizon = horizon
        self._backlog = backlog
        self._measure = measure
        self._miss_after = miss_after
        self._observer = observer
        self._asked_at = -math.inf
        self._ahead = 0
        self._unseen: list[Item] = []
        self._unseen_since = 0
        self._later: list[Item] = []  # what a later query may close, this one not
        self._lock = threading.Lock()
        self._stopped = False
        self.failure: BaseException | None = None
        self.count = 0
        self.claimed = 0

    def stop(self) -> None:
        """Wait for the batch under way and take no other."""
        with self._lock:
            self._stopped = True

    def close_when_new(self, out: list[Item], found_at: int) -> None:
        """Close claims that a marker says are out, in the first batch planned after ``found_at``.

        Not before: a batch planned by the run that crashed may not have read the notes that run
        wrote, and a note is the better witness. Nor what a note has decided meanwhile.
        """
        self._unseen, self._unseen_since = [*self._unseen, *out], found_at

    def begin_query(self) -> None:
        """Say that a query is about to start: it will read all notes that there are by now.

        A query that takes only what is there has fixed at its start how far it reads. None of its
        batches reads the notes of tasks that published meanwhile, so it must not close what they
        have left unseen. What no later query closes, the next start does.
        """
        later, self._later = self._later, []
        if later:
            self.close_when_new(later, now_micros())

    def __call__(self, read: Read, number: int) -> None:
        """Handle one batch; what goes wrong is kept, for Spark buries it in a trace of its own."""
        with self._lock:
            if self._stopped:
                raise RuntimeError("a batch after the job was told to stop")
            self.failure = None
            try:
                self._handle(read, number)
                self.count += 1
            except BaseException as failure:
                self.failure = failure
                raise

    def _handle(self, read: Read, number: int) -> None:
        self._measure.begun()
        if number < self._store.last_batch:
            raise StateError(
                f"the checkpoint is at batch {number}, the state at {self._store.last_batch}: the "
                "checkpoint was set back, and what it reads now would be taken for old; restore "
                "both from the same time, or set both to new places"
            )
        if number == self._store.last_batch:  # replayed: all of it is in the state already
            self._hand_over(number, self._store.claims_of(number))
            return
        said = said_in(read(), self._store.state_id)
        self._measure.lap("read")
        reach(Point.AFTER_READ)
        claims = self._commit(said, number)
        self._measure.lap("commit")
        reach(Point.AFTER_COMMIT)
        self._outbox.lift_holds()
        self._outbox.caught_up(said.taken())  # first: what was held for it goes to executors too
        if self._store.last_batch == number:  # else nothing was written: no marker may name it
            self._hand_over(number, claims)
        self._measure.lap("hand_over")
        reach(Point.AFTER_HAND_OVER)
        self.claimed += claims.num_rows
        self._horizon.handed_over(said.now, now_micros())
        self._store.maintain(said.now, busy=self._outbox.standing().overdue > _MUCH)
        self._measure.lap("maintain")
        self._measure.ended(number, said, claims.num_rows, self._outbox.waiting)
        self._backlog.tell(said.now, self._store.next_due)
        self._tell_observer()
        reach(Point.AFTER_TICK)
        self._outbox.ease(_MUCH, _GIVE_WAY)

    def _hand_over(self, number: int, claims: pa.Table) -> None:
        self._outbox.hand_over(number, claims)
        self._later += self._outbox.unseen()
        if not self._once:  # each batch reads all there is
            self.begin_query()

    def _commit(self, said: Said, number: int) -> pa.Table:
        decided = self._deliberate(said)
        commands = pa.concat_tables([said.commands, decided.command_table()])
        retracted = [*decided.outcome_tables(), *self._retract(commands, decided.spared)]
        self._measure.lap("decide")
        reach(Point.BEFORE_COMMIT)
        outcomes = pa.concat_tables(
            [self._reported(commands.num_rows), *retracted, self._seen_out(said), said.notes]
        )
        room = self._backlog.room(self._outbox.waiting_by_lane(), said.now)
        claim_until, may_claim_until = self._claim_until(said.now)
        claims = self._store.commit(
            Tick(
                batch=number,
                now=said.now,
                commands=commands,
                outcomes=outcomes,
                claim_until=claim_until,
                room=room,
                miss_after=self._miss_after,
                paused=decided.paused,
                may_claim_until=may_claim_until,
            )
        )
        self._observer.taken(commands)
        self._backlog.claimed(claims, room)
        return claims

    def _reported(self, commands: int) -> pa.Table:
        """Return outcomes, no more than the store takes quickly: claims must not wait for them.

        As many as commands at least, or they would fall behind for ever. In a crash they cost no
        more than their receipts; without transactions they would cost second copies, so there all
        are told at once.
        """
        most = self._store.outcomes_at_once if self._defers else None
        return self._outbox.reported(None if most is None else max(most, commands))

    def _claim_until(self, batch_time: int) -> tuple[int, int | None]:
        """Return up to which instant to claim: ahead of time, unless the clock has stepped back.

        And up to which a store may that has to begin earlier; None where no batches are to follow.

        A lane lets go of whatever is due by the latest instant it has seen. After a step back that
        lies ahead, so what falls due before it is claimed only when it is due.
        """
        until, now = self._horizon.until(batch_time), now_micros()
        farthest = self._horizon.farthest(batch_time)
        if now < self._outbox.watermark:
            until = farthest = min(until, now)
        self._ahead = until - batch_time
        return until, None if self._once else farthest

    def _tell_observer(self) -> None:
        if not self._observer.listens:
            return
        measure, standing = self._measure, self._standing()
        self._observer.ticked(
            Ticked(now_micros(), measure.seconds, measure.laps, self._ahead, standing)
        )

    def _standing(self) -> Standing | None:
        """Look at the state now and then; without its figures a batch is as good.

        Not after every batch: a store may still be busy with it, and would be waited for.
        """
        if time.monotonic() - self._asked_at < _ASK_EVERY:
            return None
        self._asked_at = time.monotonic()
        try:
            return Standing(self._store.figures(now_micros()), self._store.next_due())
        except Exception:
            log.warning("the state's figures are missing for a while", exc_info=True)
            self._asked_at += _ASK_AGAIN - _ASK_EVERY
            return None

    def _deliberate(self, said: Said) -> Decided:
        if said.special.num_rows == 0:
            return Decided(self._store.paused)
        return deliberate(said.special, self._store, self._outbox, said.now)

    def _retract(self, commands: pa.Table, spared: set[bytes]) -> list[pa.Table]:
        """Take back what newer commands replace or cancel before it goes out.

        Not of identities that are ``spared``: one message of their series was moved, no more.
        """
        taken: dict[Entry, list[Item]] = {Entry.PUT: [], Entry.CANCEL: []}
        too_late: list[tuple[bytes, int]] = []
        for identity, number, version, entry, superseded in identities(commands):
            if identity in spared:
                continue
            late = self._outbox.gone(identity, number, version) if entry is Entry.CANCEL else None
            before = len(taken[entry])
            while (item := self._outbox.retract(identity, number, version)) is not None:
                taken[entry].append(item)
            if late is not None and not superseded and len(taken[entry]) == before:
                too_late.append((identity, late))
        _tell(too_late)
        return [
            ended(taken[Entry.PUT], Status.REPLACED),
            ended(taken[Entry.CANCEL], Status.CANCELLED),
        ]

    def _seen_out(self, said: Said) -> pa.Table:
        """Return outcomes for what a marker says is out, but for what the batch's notes tell of."""
        if not self._unseen:
            return closed_unseen([])
        notes = Notes(said.notes)
        told = [item for item in self._unseen if notes.tell_of(item)]
        out = [item for item in self._unseen if not notes.tell_of(item)]
        self._unseen = []
        if said.now < self._unseen_since:
            out, self._unseen = [], out
        if self._observer.listens and (out or told):
            decided = [notes.decided(item) for item in told]
            self._observer.settled(lambda: settled_unseen(out, decided))
        return closed_unseen(out)


def _tell(too_late: list[tuple[bytes, int]]) -> None:
    """Say that cancels found their message gone; the ledger counts them."""
    if too_late:
        identity, due = too_late[0]
        log.info(
            "%d cancels came too late, their messages are out; the first: %s, due %s",
            len(too_late),
            identity.replace(b"\0", b" ").decode(errors="replace"),
            instant_text(due),
        )
