"""Copies a whole state from one kind of store to another.

A state is its rows, all versions of all keys, and beside them what ``Standing`` says, the claims of
the last batch as they were made, and the newest command of each key. Rows are counted in an order
that a source keeps while it is at rest: so a copy that was cut short goes on by a number.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import pyarrow as pa

from state.admission import Marks
from state.errors import StateError
from state.lines import SEQ
from state.pausing import Paused
from state.resolve import Counts
from state.row import ROW
from state.version import Version

LAST_CLAIM = "last_claim"  # the batch that last claimed the row; stays when it is settled
CLAIMED_AT = "claimed_at"
COPIED = pa.schema(
    [
        *ROW,
        pa.field(SEQ, pa.int64()),
        pa.field(LAST_CLAIM, pa.int64()),
        pa.field(CLAIMED_AT, pa.int64()),
    ]
)
PART_BYTES = 64 * 1024 * 1024  # what is held in memory at once, more or less

Told = Callable[[int, int], None]  # how many are copied, of how many


@dataclass(frozen=True, slots=True)
class Standing:
    """What a state is besides its rows; ``position`` names this condition of it and no other."""

    state_id: str
    position: str
    seq: int
    last_batch: int
    oldest_claim: int  # no batch before it has a claim that is not settled
    changed_at: int | None  # the time of the last commit, where it is known
    taken: Marks
    counts: Counts
    paused: Paused


class Part(NamedTuple):
    """Some rows (COPIED), and how many of the source are done when they are written."""

    rows: pa.Table
    upto: int


class Heard(NamedTuple):
    """The newest command of a key, whatever became of it."""

    identity: bytes
    version: Version
    at: int


class Source(Protocol):
    """A state that is at rest, to be read out."""

    place: str

    def standing(self) -> Standing:
        """Return all but the rows, as it is now."""

    def total(self) -> int:
        """Return how many there are to be read."""

    def parts(self, start: int, most: int) -> Iterator[Part]:
        """Read on after the first ``start``, up to ``most`` at a time, always in the same order."""

    def made(self) -> pa.Table:
        """Return the claims of the last batch as they were made (state.row.ROW)."""

    def heard(self) -> Sequence[Heard]:
        """Return the newest commands that are to be remembered, cancels included."""

    def by_status(self) -> Counter[str]:
        """Count the rows."""

    def close(self) -> None:
        """Let go of connections."""


class Target(Protocol):
    """A place that becomes a state by the last write of ``finish``, and is none before."""

    place: str
    part_rows: int

    def begin(self, standing: Standing) -> int:
        """Get ready, and return how many are there already; StateError if a state is there."""

    def write(self, part: Part) -> None:
        """Write rows; written again they change nothing."""

    def by_status(self) -> Counter[str]:
        """Count the rows written so far."""

    def finish(self, standing: Standing, made: pa.Table, heard: Sequence[Heard], now: int) -> None:
        """Write everything else, and last what makes it a state."""

    def close(self) -> None:
        """Let go of connections."""


def copy(source: Source, target: Target, now: int, told: Told) -> None:
    """Copy a state, or the rest of it; StateError if the source does not stand still."""
    standing = source.standing()
    done, total = target.begin(standing), source.total()
    told(done, total)
    for part in source.parts(done, target.part_rows):
        target.write(part)
        told(part.upto, total)
    made, heard, counted = source.made(), source.heard(), source.by_status()
    if source.standing().position != standing.position:
        raise StateError(
            f"the state in {source.place} has changed while it was copied; stop the job that "
            "writes it, then run `duestream state copy` again"
        )
    if counted != target.by_status():
        raise StateError(
            f"not all rows are in {target.place}: {_told(target.by_status())} of "
            f"{_told(counted)}; remove what is there and copy again"
        )
    target.finish(standing, made, heard, now)


class Figure(NamedTuple):
    """One figure of two states."""

    name: str
    source: object
    target: object


def figures(source: Source, target: Source) -> list[Figure]:
    """Return what two states have, side by side: rows, totals of the ledger, how far they are."""
    before, after = source.standing(), target.standing()
    there, here = source.by_status(), target.by_status()
    rows = [Figure(f"rows {name}", there[name], here[name]) for name in sorted(there | here)]
    ends = sorted(before.counts.ends | after.counts.ends)
    return [
        *rows,
        *(Figure(f"ever {n}", before.counts.ends[n], after.counts.ends[n]) for n in ends),
        Figure("accepted", before.counts.accepted, after.counts.accepted),
        Figure("rejected", before.counts.rejected, after.counts.rejected),
        Figure("late cancels", before.counts.late_cancels, after.counts.late_cancels),
        Figure("missed", before.counts.missed, after.counts.missed),
        Figure("paused", before.paused, after.paused),
        Figure("last batch", before.last_batch, after.last_batch),
        Figure("state", before.state_id, after.state_id),
    ]


def half_copied(place: str) -> str:
    """Return the sentence for a state that is not whole."""
    return (
        f"the copy of a state to {place} is not finished; run `duestream state copy` again, it "
        "goes on where it was"
    )


def _told(counted: Counter[str]) -> str:
    return ", ".join(f"{n:,} {name}" for name, n in sorted(counted.items())) or "none"
