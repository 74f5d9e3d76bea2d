"""What a store must be able to tell of its state: rows, versions of a key, counts, earlier states.

What people and programs ask is answered by the functions of ``state.inspect``, over this contract.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import pyarrow as pa

from state.cursor import Cursor, Order, refuse_other_order
from state.errors import StateError
from state.pausing import Paused
from state.row import DUE, Kind, Status


@dataclass(frozen=True, slots=True)
class Filter:
    """Which rows are wanted; what is left None does not narrow the choice."""

    statuses: Collection[Status] | None = None
    output_topic: str | None = None
    due_from: int | None = None  # microseconds, inclusive
    due_to: int | None = None  # exclusive
    key: bytes | None = None
    kind: Kind | None = Kind.MESSAGE
    limit: int | None = None
    key_prefix: bytes | None = None
    changed_from: int | None = None  # last changed then or later, by the time of the batch
    repeating: bool = False  # True: only what repeats
    after: Cursor | None = None  # only what comes after this place, which must be of this order
    order: Order = Order.NEXT_DUE
    source_topic: str | None = None

    def __post_init__(self) -> None:
        refuse_other_order(self.after, self.order)


@dataclass(frozen=True, slots=True)
class Ledger:
    """Where every accepted message is; it closes when the ends add up to what was accepted."""

    accepted: int
    ends: dict[Status, int]  # since the beginning, purged rows included; PENDING and CLAIMED: now
    rejected: int  # never accepted: refused records, published as dead letters
    late_cancels: int  # cancels that found nothing pending
    missed: int = 0  # occurrences of repeating messages that were passed over

    @property
    def difference(self) -> int:
        """What is missing (above zero) or too much (below) in the ends."""
        return self.accepted - sum(self.ends.values())


@dataclass(frozen=True, slots=True)
class Stats:
    """A state at a glance."""

    ledger: Ledger
    last_batch: int
    next_due: int | None
    oldest_overdue: int | None
    pending_by_topic: dict[str, int] = field(default_factory=dict)
    paused: int = 0  # pending rows that are held back
    pauses: Paused = field(default_factory=Paused)  # what holds back more than a key


class Waiting(NamedTuple):
    """The pending messages of one output topic."""

    topic: str
    pending: int  # all that wait, those held back by a pause included
    paused: int
    first_due: int | None  # of those that are not paused
    last_due: int | None


@dataclass(frozen=True, slots=True)
class Moment:
    """Which commit an answer is of."""

    at: int | None  # the time of its batch; None before the first, or where it is not kept
    exact: bool = True  # False: the nearest commit before the instant asked for that is kept


class Inspector(Protocol):
    """Reads a state beside the job that writes it; every answer is one consistent snapshot.

    Two answers may be of two commits; those of an earlier state (``as_of``) are all of the same.
    Nothing here changes the state, waits for the job, or needs it to run.
    """

    @property
    def keeps_earlier(self) -> bool:
        """Whether ``as_of`` can be asked."""

    def rows(self, where: Filter, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the rows that match (state.row.ROW), in the order asked for.

        Who needs but some columns says so: without payloads many rows are had at once.
        """

    def scan(self, where: Filter, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield some columns of the rows that match, in no order, a part at a time.

        For questions about many rows: what is held in memory is one part, and what the last
        commits changed. ``limit``, ``after`` and ``order`` are not for this.
        """

    def tally(
        self, where: Filter, by: Sequence[str], every: int | None = None, of: str = DUE
    ) -> pa.Table:
        """Count the rows that match by some columns, and by spans of ``every`` microseconds.

        Returns the columns ``by``, with ``every`` also INSTANT (the begin of the span that ``of``
        lies in), then COUNT, FIRST and LAST (the least and the greatest ``of``); names are in
        state.tally. Counted where the rows are, as far as the store can.
        """

    def versions(
        self, key: bytes, source_topic: str | None = None, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Return every version of a key that is still known, oldest first."""

    def stats(self, now: int) -> Stats:
        """Count."""

    def waiting(self) -> list[Waiting]:
        """Count the pending messages of each output topic, ordered by topic."""

    def moment(self) -> Moment:
        """Tell which commit the answers are of; of a state that goes on: the newest by now."""

    def as_of(self, instant: int) -> "Inspector":
        """Return the state as it was known at an instant: after the last commit up to then.

        A commit counts by the time of its batch. StateError where the store does not reach back
        that far, or keeps no earlier states at all.
        """


def no_earlier(kind: str) -> StateError:
    """Return what ``as_of`` answers with where there are no earlier states."""
    return StateError(
        f"state.kind is {kind}: this store keeps no earlier states; what is still known of a key, "
        "its closed versions too, is in its history, for as long as state.keep_closed says"
    )
