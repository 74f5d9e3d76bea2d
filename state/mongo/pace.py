"""Knows how long a commit takes for each row, and so how many rows it had better claim.

It goes by the clock of this machine. That is no part of what a commit says: it decides how many
rows are claimed, and the commit then fixes which.
"""

import statistics
from collections import deque

_GUESS = 0.0005  # seconds for a row, before anything was measured
_PART = 1.5  # seconds of claiming in one commit
_LONGEST = 8  # times that, where what is due does not become less
_LEAST = 1_000  # rows
_TELLING = 200  # rows claimed; with fewer a commit tells of itself, not of its rows
_REMEMBERED = 5
# There may be twice as many as were looked for, and a fifth of the time goes to other things.
_MARGIN = 2.5
_TICKS = 2.0  # seconds until the first part is claimed, and from the last to its publishing


class Pace:
    """Follows the recent commits; one that took far longer than the others does not count."""

    def __init__(self) -> None:
        self._costs = deque([_GUESS], maxlen=_REMEMBERED)
        self._times = 1
        self.is_full = False  # whether the last commit had at least as much to claim as it might

    def took(self, seconds: float, changed: int, claimed: int, room: int) -> None:
        """Hear how long a commit took, how many documents it has changed, how many of them claimed.

        ``room`` is how many it might have claimed.
        """
        self.is_full = 0 < room <= claimed
        if claimed >= _TELLING:
            self._costs.append(seconds / max(changed, claimed))

    def follow(self, overdue: bool) -> None:
        """Make parts larger while rows are ``overdue`` after a full one: large commits do more.

        Where a commit takes long whatever is in it, parts would otherwise fall behind for ever.
        """
        self._times = min(2 * self._times, _LONGEST) if overdue and self.is_full else 1

    def part(self, besides: int) -> int:
        """Return how many rows to claim in a commit that takes in so many commands besides.

        As many as those at least: what falls due must not fall behind what comes in.
        """
        return max(_LEAST, int(self._times * _PART / self._cost), besides)

    def lead(self, rows: int) -> int:
        """Return how long before they are due to begin to claim rows, in microseconds."""
        return int((rows * self._cost * _MARGIN + _TICKS) * 1_000_000)

    @property
    def _cost(self) -> float:
        return statistics.median(self._costs)
