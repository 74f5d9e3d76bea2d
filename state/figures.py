"""What a store tells of itself while a job runs on it, from what it has at hand."""

from dataclasses import dataclass

from state.resolve import Counts
from state.row import CLOSED


@dataclass(frozen=True, slots=True)
class Fold:
    """The last fold."""

    number: int  # which one it was since the store was opened
    ended_at: int  # microseconds
    seconds: float


@dataclass(frozen=True, slots=True)
class Figures:
    """A state at a glance, cheap enough to be asked for every few ticks."""

    pending: int  # messages that are pending or claimed, at most a little too many
    overdue: int  # pending rows, not claimed ones, that were due before the time given
    counts: Counts  # what has ended since the state began, perhaps as of a little while ago
    fold: Fold | None = None
    unfolded: int = 0  # lines that wait for a fold


def live_in(counts: Counts) -> int:
    """Return how many messages are neither done nor otherwise closed."""
    return counts.accepted - sum(counts.ends[status] for status in CLOSED)
