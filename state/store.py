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
- A *reject* is a row of kind rejection, pending at once, with an identity of its own.
- An *outcome* acts on exactly the version it names: it closes a claimed (or pending) version with
  its status, reason and receipt; status pending puts it back with the due instant given, unless a
  newer command for its identity was taken meanwhile: then it is closed as replaced.
  An outcome that bears an attempt acts only on a version with fewer attempts. A version
  closed as done with the receipt unknown may still be corrected by an outcome with another status;
  any other closed version stays as it is.
- Then *claim*: of all pending versions with due <= ``claim_until``, of each lane those with the
  least due, as many as ``room`` says, become claimed by this batch. They are returned as full rows,
  ordered by due, and they are in the same commit. A version is claimed by one batch only, until put
  back.

When ``commit`` or ``settle`` has returned, what it said is remembered, also through kill -9. A
store opened again knows everything from its tables alone.
"""

from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from state.claims import Room


@dataclass(frozen=True, slots=True)
class Tick:
    """All that one micro-batch says to the store."""

    batch: int
    now: int
    commands: pa.Table  # state.row.COMMANDS; at most one row per identity
    outcomes: pa.Table  # state.row.OUTCOMES
    claim_until: int
    room: Room


class Store(Protocol):
    """Keeps schedules; see the module's docstring for what each call promises."""

    @property
    def state_id(self) -> str:
        """Name this state for good: a checkpoint belongs to one state and no other."""

    @property
    def last_batch(self) -> int:
        """The newest committed batch, -1 before the first."""

    def commit(self, tick: Tick) -> pa.Table:
        """Commit one micro-batch and return its claims (state.row.ROW, ordered by due)."""

    def claims_of(self, batch: int) -> pa.Table:
        """Return the claims that ``batch`` made and that no outcome has closed yet."""

    def unsettled(self) -> pa.Table:
        """Return every claimed row, ordered by due: what the outbox must see to after a restart."""

    def settle(self, outcomes: pa.Table, now: int) -> None:
        """Record outcomes outside of a batch, as a job does when it stops cleanly."""

    def next_due(self) -> int | None:
        """Return an instant at or before the least due of all pending rows; None when none."""

    def maintain(self, now: int) -> None:
        """Do what keeps the store quick and small, if it is time to; must not block a tick."""

    def give_up(self) -> None:
        """Have a call that waits for its database end with an error: the job is to stop."""

    def close(self) -> None:
        """Let go of files, threads and processes; what was committed stays."""
