"""What people and programs may ask of a state: rows, versions of a key, counts and the ledger."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa

from state.row import Kind, Status


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


class Inspector(Protocol):
    """Reads a state beside the job that writes it; every answer is one consistent snapshot."""

    def rows(self, where: Filter) -> pa.Table:
        """Return the rows that match (state.row.ROW), ordered by due."""

    def versions(self, key: bytes, source_topic: str | None = None) -> pa.Table:
        """Return every version of a key that is still known, oldest first."""

    def stats(self, now: int) -> Stats:
        """Count."""
