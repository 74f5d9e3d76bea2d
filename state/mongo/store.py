"""The state store in MongoDB.

A tick reads the keys it names and the rows it may claim, works out what becomes of them, writes
that to the journal, and commits by changing one document. The changes are carried out behind it:
the next call that asks the collections waits for them. So a tick costs as much as it says and
claims, whatever is pending. Calls from several threads take turns.
"""

import logging
import time
import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa

from state.admission import (
    HighMarks,
    Marks,
    not_taken,
    raise_marks,
    versions_of,
    without_effect,
)
from state.claims import Room
from state.crashpoint import Point, reach
from state.errors import StateError
from state.figures import Figures, live_in
from state.lines import command_lines
from state.mongo.ahead import Window
from state.mongo.behind import Behind
from state.mongo.changes import Moment
from state.mongo.claiming import Claimed, Claiming
from state.mongo.dividing import divide
from state.mongo.documents import collection_of
from state.mongo.due import any_pending, count_due, due_of, least_due, parked_rows
from state.mongo.gather import (
    Mind,
    claimed_rows,
    claims_made,
    gather,
    pending_rows,
    read_meta,
    recall,
)
from state.mongo.journal import Chunk, chunks, forget_before, read_journal, write_journal
from state.mongo.layout import LAST_CLAIM, META, SCHEDULES, VERSIONS, Document
from state.mongo.meta import META_ID, Meta
from state.mongo.pace import Pace
from state.mongo.purge import Purge
from state.mongo.reach import Reach
from state.mongo.scene import Scene
from state.mongo.sending import Send
from state.mongo.topics import count_pending, pending_after
from state.mongo.writing import changes
from state.outcomes import one_per_version, overtaken, without_known_attempts
from state.pausing import UNPARK_ROWS, Paused
from state.row import CLAIM, COMMANDS, OUTCOMES, PARKED, ROW, SOURCE_OFFSET
from state.settings import StateSettings
from state.store import Tick
from state.turns import TakesTurns, in_turn

_NO_ROOM = Room((0,))
_LATE = 2_000_000  # microseconds after which what is not claimed counts as overdue
_FORGET_EVERY = 20  # commits whose journal is kept together

log = logging.getLogger(__name__)


class Plan(NamedTuple):
    """All that a commit is to change."""

    meta: Meta
    parts: Sequence[Chunk]
    scene: Scene
    claimed: Claimed
    claims: pa.Table
    releasing: bool  # whether more may have to be brought back

    @property
    def changed(self) -> int:
        """How many documents it changes."""
        return sum(len(part.items) for part in self.parts)


class CarriedOut(NamedTuple):
    """What is known once a commit is carried out."""

    beside: bool  # whether ``versions`` has pending rows
    seconds: float
    changed: int
    claimed: int
    room: int


class MongoStore(TakesTurns):
    """Keeps schedules in a database; see state.store for what each call promises."""

    def __init__(self, reach: Reach, settings: StateSettings, send: Send) -> None:
        super().__init__()
        self._reach = reach
        self._db = reach.db
        self._settings = settings
        self._send = send
        self._writer = str(uuid.uuid4())
        self._purge = Purge(reach, settings.keep_closed)
        self._pace = Pace()
        self._behind: Behind[CarriedOut] = Behind()
        self._mind: Mind | None = None
        self._id = self._known().meta.state_id

    @property
    def state_id(self) -> str:
        """Name this state for good."""
        return self._id

    @property
    @in_turn
    def last_batch(self) -> int:
        """The newest committed batch, -1 before the first."""
        return self._known().meta.last_batch

    @property
    @in_turn
    def paused(self) -> Paused:
        """What is paused as of the last commit."""
        return self._known().meta.paused

    @property
    @in_turn
    def outcomes_at_once(self) -> int | None:
        """As many as are claimed at once: each is a change of a document, too."""
        return self._pace.part(0)

    @in_turn
    def commit(self, tick: Tick) -> pa.Table:
        """Commit one micro-batch and return its claims."""
        mind = self._carried_out()
        if tick.batch <= mind.meta.last_batch:
            return self._made(tick.batch)
        commands = not_taken(tick.commands, mind.taken)
        paused = mind.meta.paused if tick.paused is None else tick.paused
        mind.releasing = (mind.releasing or paused != mind.meta.paused) and not paused.everything
        tick = self._paced(tick, commands.num_rows)
        said = commands.num_rows or tick.outcomes.num_rows or paused != mind.meta.paused
        if not (said or mind.releasing or self._is_due(tick.claim_until)):
            return ROW.empty_table()
        self._own(len(tick.room.lanes))
        return self._commit(tick, commands)

    @in_turn
    def claims_of(self, batch: int) -> pa.Table:
        """Return the claims that ``batch`` made and that no outcome has closed yet."""
        return self._claimed({CLAIM: batch, LAST_CLAIM: batch})

    @in_turn
    def unsettled(self) -> pa.Table:
        """Return every claimed row, ordered by due."""
        return self._claimed({LAST_CLAIM: {"$gte": self._carried_out().meta.oldest_claim}})

    @in_turn
    def settle(self, outcomes: pa.Table, now: int) -> None:
        """Record outcomes outside of a batch."""
        if outcomes.num_rows == 0:
            return
        meta = self._carried_out().meta
        nothing = COMMANDS.empty_table()
        tick = Tick(meta.last_batch, now, nothing, outcomes, 0, _NO_ROOM)
        self._own(meta.lanes)
        self._commit(tick, nothing)

    @in_turn
    def take(self, commands: pa.Table, upto: Marks, now: int, lanes: int) -> None:
        """Commit commands outside of a batch."""
        fresh = not_taken(commands, self._carried_out().taken)
        self._own(lanes)
        nothing, room = OUTCOMES.empty_table(), Room((0,) * lanes)
        tick = Tick(self._known().meta.last_batch, now, fresh, nothing, 0, room)
        self._commit(tick, fresh, upto)

    @in_turn
    def pending(self, identities: Sequence[bytes], whole: bool) -> pa.Table:
        """Return the pending versions of some identities."""
        beside = self._carried_out().beside
        named = set(identities)
        return self._reach.surely(lambda: pending_rows(self._db, named, whole, beside))

    @in_turn
    def next_due(self) -> int | None:
        """Return an instant at or before the least due of all pending rows; None when none."""
        mind = self._carried_out()
        if not mind.sure:
            lanes, places = mind.meta.lanes, self._places(mind)
            mind.least = self._reach.surely(lambda: least_due(self._db, places, lanes))
            mind.sure = True
        return mind.least

    @in_turn
    def figures(self, now: int) -> Figures:
        """Tell how the state stands; only what is overdue has to be asked for."""
        mind = self._carried_out()
        counts, places = mind.meta.counts, self._places(mind)
        overdue = (
            self._reach.surely(lambda: count_due(self._db, places, mind.meta.lanes, now))
            if self._is_due(now - 1)
            else 0
        )
        return Figures(live_in(counts), overdue, counts)

    @in_turn
    def maintain(self, now: int, busy: bool = False) -> None:
        """Begin to forget what was closed long enough ago, in the background."""
        self._purge.begin(now, self._known().meta.seq)

    @in_turn
    def renew(self) -> None:
        """Gather everything anew if another has committed since."""
        self._carried_out()
        newest = self._reach.surely(lambda: read_meta(self._db, self._reach.address))
        if (newest.seq, newest.writer) != (self._known().meta.seq, self._known().meta.writer):
            self._mind = None
            self._known()

    def give_up(self) -> None:
        """Have a call that waits for the server end with an error."""
        self._reach.give_up()

    @in_turn
    def close(self) -> None:
        """Let go of the connections; what was committed stays.

        A commit that is being carried out is waited for, but not a server that is away.
        """
        self._reach.give_up()
        try:
            self._behind.end()
        except Exception as failure:
            log.info("the last commit is left to the next start to carry out (%s)", failure)
        self._purge.close()
        self._reach.close()

    def _known(self) -> Mind:
        """Return what is known, gathered anew after a commit that failed half-way."""
        if self._mind is None:
            self._mind = self._reach.surely(self._recalled)
        return self._mind

    def _carried_out(self) -> Mind:
        """Return what is known once the collections are as the last commit leaves them."""
        try:
            done = self._behind.end()
        except BaseException:
            self._mind = None  # read anew, and carried out before anything else
            raise
        mind = self._known()
        if done is not None:
            mind.beside = done.beside
            self._pace.took(*done[1:])
        return mind

    def _recalled(self) -> Mind:
        meta = read_meta(self._db, self._reach.address)
        late = self._send(read_journal(self._db, meta.token)) if meta.token else 0
        log.debug("the last commit was finished; %d changes of it were there before", late)
        if meta.pending is None:
            meta = meta.after(pending=count_pending(self._db))
        return recall(self._db, meta)

    def _claimed(self, where: Document) -> pa.Table:
        self._carried_out()
        return self._reach.surely(lambda: claimed_rows(self._db, where))

    def _made(self, batch: int) -> pa.Table:
        mind = self._known()
        if batch == mind.meta.last_batch and mind.made is not None:
            return mind.made
        return self._reach.surely(lambda: claims_made(self._db, batch))

    @staticmethod
    def _places(mind: Mind) -> tuple[str, ...]:
        """Return the collections that may have pending rows."""
        return (SCHEDULES, VERSIONS) if mind.beside else (SCHEDULES,)

    def _is_due(self, until: int) -> bool:
        least = self.next_due()
        return least is not None and least <= until

    def _paced(self, tick: Tick, commands: int) -> Tick:
        """Leave to the next commits what would take too long, and begin earlier for that."""
        if tick.may_claim_until is None:
            return tick
        least = self.next_due()
        self._pace.follow(least is not None and least < tick.now - _LATE)
        part = self._pace.part(commands)
        # What is due sooner and comes later must find room, whatever is claimed before its time.
        is_free = tick.room.total >= 2 * part
        until = self._begun(tick, tick.may_claim_until) if is_free else tick.claim_until
        return replace(tick, claim_until=until, room=tick.room.at_most(part))

    def _begun(self, tick: Tick, farthest: int) -> int:
        """Return up to which instant to claim, where much falls due before its time."""
        mind, least = self._known(), self.next_due()
        if least is None or mind.meta.lanes == 0:
            return tick.claim_until
        window = Window(tick.now, tick.claim_until, farthest)
        rows = self._db, self._places(mind), mind.meta.lanes, window.now, window.sight
        return mind.ahead.until(
            window,
            least,
            self._pace.is_full,
            self._pace.lead,
            lambda count: self._reach.surely(lambda: due_of(*rows, count)),
        )

    def _own(self, lanes: int) -> None:
        """Be the one writer, and have the rows divided into as many lanes as the job has."""
        mind = self._known()
        if mind.meta.writer != self._writer:
            self._set_meta(mind.meta, mind.meta.after(writer=self._writer))
        if mind.meta.lanes != lanes:
            self._set_meta(self._known().meta, self._known().meta.after(lanes=0))
            divide(self._reach, lanes)
            self._set_meta(self._known().meta, self._known().meta.after(lanes=lanes))

    def _commit(self, tick: Tick, commands: pa.Table, upto: Marks | None = None) -> pa.Table:
        mind, begun = self._known(), time.monotonic()
        plan = self._reach.surely(lambda: self._planned(tick, commands, upto or {}))
        if plan is None:
            return ROW.empty_table()
        self._mind = None
        after = plan.meta
        self._reach.surely(lambda: write_journal(self._db, after.token, plan.parts))
        reach(Point.DURING_COMMIT)
        self._set_meta(mind.meta, after)
        self._mind = _remembered(mind, plan)
        beside = self._mind.beside
        room = tick.room.total
        self._behind.begin(lambda: self._carry_out(plan, beside, begun, room))
        return plan.claims

    def _carry_out(self, plan: Plan, beside: bool, begun: float, room: int) -> CarriedOut:
        """Have the documents changed by a commit that began ``begun`` and had ``room``."""
        seq = plan.meta.seq
        self._reach.surely(lambda: self._send(plan.parts))
        if seq % _FORGET_EVERY == 0:
            self._reach.surely(lambda: forget_before(self._db, seq))
        beside = beside and self._reach.surely(lambda: any_pending(self._db, VERSIONS))
        seconds = time.monotonic() - begun
        return CarriedOut(beside, seconds, plan.changed, plan.claims.num_rows, room)

    def _planned(self, tick: Tick, commands: pa.Table, upto: Marks) -> Plan | None:
        """Work out what a commit is to change; nothing is written or remembered yet."""
        mind = self._known()
        meta = mind.meta
        moment = Moment(meta.seq + 1, tick.batch, tick.now, meta.lanes)
        scene = Scene(moment, meta.counts.copy(), mind.outstanding)
        whole = tick.room.total > 0
        gather(self._db, scene, commands, tick.outcomes, whole=whole, beside=mind.beside)
        paused = meta.paused if tick.paused is None else tick.paused
        back = self._unparked(paused) if mind.releasing and whole else []
        for document in back:
            scene.bring_back(document, collection_of(document))
        said = _say(scene, commands, tick.outcomes)
        claiming = Claiming(self._db, scene, tick, paused, mind.beside)
        claims = claiming.claim()
        taken = _raised(mind.taken, commands, upto)
        changes_meta = paused != meta.paused or (upto and taken != meta.taken)
        if not (said or claims.num_rows or claiming.parked or changes_meta):
            mind.releasing = mind.releasing and not whole
            return None
        oldest, batch = mind.outstanding.oldest, max(tick.batch, 0)
        after = meta.after(
            seq=moment.seq,
            token=str(uuid.uuid4()),
            last_batch=tick.batch,
            oldest_claim=batch if oldest is None else min(oldest, batch),
            taken=taken,
            counts=scene.counts,
            paused=paused,
            pending=pending_after(meta.pending or {}, scene, claiming.claimed),
        )
        written = [*changes(scene), *claiming.claimed.changes(moment)]
        parts = list(chunks(written, moment.seq, self._settings.mongo.batch_rows))
        more = mind.releasing and (not whole or len(back) >= UNPARK_ROWS)
        return Plan(after, parts, scene, claiming.claimed, claims, more)

    def _unparked(self, paused: Paused) -> list[Document]:
        """Find rows that are parked and not paused any more."""
        mind = self._known()
        return parked_rows(self._db, self._places(mind), mind.meta.lanes, paused, UNPARK_ROWS)

    def _set_meta(self, before: Meta, after: Meta) -> None:
        """Change the one document that counts, if nobody else has since it was read."""

        def change() -> None:
            document = after.to_document()
            where = {"_id": META_ID, "seq": before.seq, "writer": before.writer}
            if before.writer != after.writer:
                del where["writer"]
            done = self._db[META].replace_one(where, document)
            if not done.matched_count and self._db[META].find_one({"_id": META_ID}) != document:
                raise StateError(another_writer(self._db.name))

        self._reach.surely(change)
        if self._mind is not None:
            self._mind.meta = after


def _say(scene: Scene, commands: pa.Table, outcomes: pa.Table) -> bool:
    """Tell a scene what its commit says; tell whether it says anything."""
    outcomes = without_known_attempts(outcomes, scene.attempt_of)
    scene.say_outcomes(overtaken(one_per_version(outcomes), scene.newest_of))
    named = versions_of(commands)
    late = without_effect(commands, named, scene.newest_of(named))
    moment = scene.moment
    scene.say_commands(command_lines(commands, late, moment.batch, moment.now), late)
    return scene.settle()


def _raised(taken: HighMarks, commands: pa.Table, upto: Marks) -> Marks:
    """Return how far the input is taken once commands, and all up to ``upto``, are."""
    marks = HighMarks(taken.as_dict())
    raise_marks(marks, commands, SOURCE_OFFSET)
    marks.raise_all(HighMarks(upto))
    return marks.as_dict()


def _remembered(mind: Mind, plan: Plan) -> Mind:
    """Return what is known once a plan is committed."""
    plan.scene.remember(mind.outstanding)
    for document, newest, place in plan.claimed.documents():
        mind.outstanding.add(document, newest, place)
    mind.ahead.added(len(plan.scene.pending(PARKED - 1)))
    made = plan.claims if plan.meta.last_batch > mind.meta.last_batch else mind.made
    return Mind(
        plan.meta,
        HighMarks(plan.meta.taken),
        mind.outstanding,
        mind.ahead,
        beside=mind.beside or plan.scene.leaves_beside,
        made=made,
        releasing=plan.releasing,
    )


def another_writer(database: str) -> str:
    """Return the sentence for a state that somebody else has written to."""
    return (
        f"another job writes the state in the database {database}; stop it, or give this job a "
        "state.mongo.database of its own"
    )
