"""The contract of a state store; this docstring is its specification, tests/state its proof.

A store remembers *versions* of *identities* (state.row). One writer at a time; time is always a
parameter. All that one micro-batch says is one ``Tick``, committed whole or not at all, under the
batch's number:

- ``commit`` of a batch the store has already committed changes nothing and answers with the claims
  of that batch as they were made the first time. Batches are numbered upwards, with gaps allowed:
  a tick that says nothing and claims nothing need not be written.
- A *put* newer than all the store knows of its identity (state.version.is_newer) makes that version
  pending and closes an older pending one as replaced. An older put is itself closed as replaced. A
  record already taken (offset at or below the highest taken from its partition) changes nothing.
- A *cancel* closes the pending version as cancelled; with none pending it is a miss and counted.
- Neither touches a version that is claimed: that one belongs to the outbox until an outcome names
  it. The caller retracts what it can from the outbox first and reports it as an outcome (replaced
  or cancelled) in the same tick.
- An *ignored* put is one that the policy of its key has turned away: a version that is closed as
  replaced at once, with the REASON it bears, and counted as such. It touches nothing that is
  pending and later commands are not compared with it.
- A *reject* is a row of kind rejection, pending at once, with an identity of its own.
- A *command* is a row of kind command with an identity of its own, which remembers an order to the
  job: its effect (REASON), who gave it and why (DETAIL), the key it was about (KEY). It is closed
  as done at once; with an OUTPUT_TOPIC it is pending first, as a reply to be published. It is no
  part of the ledger.
- An *outcome* acts on exactly the version it names: it closes a claimed (or pending) version with
  its status, reason and receipt; status pending puts it back with the due instant given, unless a
  newer command for its identity was taken meanwhile: then it is closed as replaced.
  An outcome that bears an attempt acts only on a version with fewer attempts. A version
  closed as done with the receipt unknown may still be corrected by an outcome with another status;
  any other closed version stays as it is.
- Then *claim*: of all pending versions with due <= ``claim_until``, of each lane those with the
  least due, as many as ``room`` says, become claimed by this batch. They are returned as full rows,
  ordered by due, and they are in the same commit. (Where their payloads are more than a gigabyte,
  a store may leave some to the next commit, those due last.) A version is claimed by one batch
  only, until put back.
- A store that takes long to claim may do so in parts, if ``may_claim_until`` says that other
  commits follow: it leaves to them what is due last. Where a part of what is due at one time would
  come too late, it may begin before: with rows due by ``may_claim_until``, those with the least
  due first.
- Every version that is claimed and whose POLICY repeats leaves the occurrence that follows it
  (state.rules.repeat.following, of its SCHEDULED) in the same commit: the same record with the next
  number, content and POLICY, pending, due at its own instant, attempts forgotten. The claimed
  version's own POLICY is kept without the repeat: like a baton, it is always with one version of
  an identity, so one that is put back and claimed again does not repeat again. An occurrence that
  is itself due by ``claim_until`` is claimed in the same commit if there is room, and so on. Each
  counts as accepted, those that were passed over as missed. An occurrence replaces none that is
  pending again; a put or a cancel closes all that are pending, which ends the series.

- Rows that would be claimed but are *paused* (``paused``: all messages, or those for some output
  topics) are *parked* instead: they stay pending with due PARKED, SCHEDULED as it was. Once they
  are no longer paused, commits give them back their SCHEDULED as due, UNPARK_ROWS at a time. A
  parked row is replaced and cancelled like any pending one. What is paused is remembered with the
  commit, until a tick says otherwise. An outcome with status pending and due PARKED_ALONE parks one
  version; no change of ``paused`` brings it back, only another outcome does.

- ``take`` commits commands outside of the batches, as an import from a topic does: last_batch stays
  as it is, and nothing is claimed, repeated, parked or brought back. Afterwards every record up to
  ``upto``, and up to the highest offset among the commands, counts as taken from its partition. So
  whoever takes a topic in several calls goes upwards in each partition, and may be cut short
  between any two: what is said again changes nothing.

When ``commit``, ``settle`` or ``take`` has returned, what it said is remembered, also through kill
-9. A store opened again knows everything from its tables alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from state.admission import Marks
from state.claims import Room
from state.figures import Figures
from state.pausing import Paused

MISS_AFTER = 30_000_000


@dataclass(frozen=True, slots=True)
class Tick:
    """All that one micro-batch says to the store."""

    batch: int
    now: int
    commands: pa.Table  # state.row.COMMANDS; of puts and cancels at most one per identity
    outcomes: pa.Table  # state.row.OUTCOMES
    claim_until: int
    room: Room
    miss_after: int = MISS_AFTER  # an occurrence later than this counts as missed
    paused: Paused | None = None  # None: as before
    may_claim_until: int | None = None  # None: all of it is claimed at once


class Store(Protocol):
    """Keeps schedules; see the module's docstring for what each call promises."""

    @property
    def state_id(self) -> str:
        """Name this state for good: a checkpoint belongs to one state and no other."""

    @property
    def last_batch(self) -> int:
        """The newest committed batch, -1 before the first."""

    @property
    def paused(self) -> Paused:
        """What is paused as of the last commit."""

    @property
    def outcomes_at_once(self) -> int | None:
        """How many outcomes a batch had better carry, so as not to take long; None: any number."""

    def commit(self, tick: Tick) -> pa.Table:
        """Commit one micro-batch and return its claims (state.row.ROW, ordered by due)."""

    def claims_of(self, batch: int) -> pa.Table:
        """Return the claims that ``batch`` made and that no outcome has closed yet."""

    def unsettled(self) -> pa.Table:
        """Return every claimed row, ordered by due: what the outbox must see to after a restart."""

    def settle(self, outcomes: pa.Table, now: int) -> None:
        """Record outcomes outside of a batch, as a job does when it stops cleanly."""

    def take(self, commands: pa.Table, upto: Marks, now: int, lanes: int) -> None:
        """Commit commands (state.row.COMMANDS) outside of a batch.

        ``upto`` are offsets that count as taken too; ``lanes`` is how many the job will have.
        """

    def pending(self, identities: Sequence[bytes], whole: bool) -> pa.Table:
        """Return what is pending of some identities as of the last commit (state.row.ROW).

        There may be several of one: an occurrence that is put back, and the one after it. Claimed
        versions are not among them. If not ``whole``, only the columns that name the version and
        KIND, DUE, SCHEDULED, OUTPUT_TOPIC and POLICY are sure to be filled.
        """

    def next_due(self) -> int | None:
        """Return an instant at or before the least due of all pending rows; None when none.

        Parked rows do not count.
        """

    def figures(self, now: int) -> Figures:
        """Tell how the state stands as of the last commit, without going to great lengths."""

    def maintain(self, now: int, busy: bool = False) -> None:
        """Do what keeps the store quick and small, if it is time to; must not block a tick.

        ``busy`` says that much is overdue and goes out right now: what takes a processor for a
        while can wait for a quieter moment, though not for ever.
        """

    def renew(self) -> None:
        """Look whether another has written the state since it was opened; then gather all anew.

        Called by a job that knows by now that it is alone, before it publishes anything: the one
        before it may have ended in between.
        """

    def give_up(self) -> None:
        """Have a call that waits for its database end with an error: the job is to stop."""

    def close(self) -> None:
        """Let go of files, threads and processes; what was committed stays."""
