"""Tells whether so much falls due at once that claiming it has to begin before its time.

For that it looks how soon the n-th row from now is due, for some n. Such a look reads n keys of an
index, so it is remembered. Rows that were added since bring the n-th nearer: after half as many
as n the next look is due. Rows that were claimed since only move it further away.
"""

from collections.abc import Callable
from typing import NamedTuple

_COUNTS = tuple(1_000 * 2**power for power in range(10))


class Window(NamedTuple):
    """The time of a batch, up to which instant it claims anyhow, and up to which it may."""

    now: int
    until: int
    farthest: int

    @property
    def sight(self) -> int:
        """How far to look, so that what is seen holds for a while."""
        return 2 * self.farthest - self.now


class _Look(NamedTuple):
    due: int
    added: int


class Ahead:
    """Remembers what was seen of the rows that fall due next, and what was begun."""

    def __init__(self) -> None:
        self._looks: dict[int, _Look] = {}
        self._added = 0
        self._begun = 0

    def added(self, rows: int) -> None:
        """Take note of how many rows a commit has made pending."""
        self._added += rows

    def until(
        self,
        window: Window,
        least: int,
        goes_on: bool,
        lead: Callable[[int], int],
        due_of: Callable[[int], int],
    ) -> int:
        """Return up to which instant to claim, so that rows are not late for being many.

        ``least`` is at or before the first due instant, ``due_of`` looks up that of the n-th row,
        or how far it has looked, and ``lead`` says how long before they are due n rows need. What
        is begun is done to its end; while it ``goes_on``, as the last commit had more to claim than
        a part, there is no need to look further. What comes in later and is due before that end is
        claimed at once, so that it goes out in its turn.
        """
        if self._begun <= window.until or not goes_on:
            self._begun = max(self._begun, self._pressing(window, least, lead, due_of))
        return max(window.until, min(self._begun, window.farthest))

    def _pressing(
        self, window: Window, least: int, lead: Callable[[int], int], due_of: Callable[[int], int]
    ) -> int:
        """Return when the last of the rows is due that have to be begun now, 0 without any."""
        soonest = least
        for count in _COUNTS:
            within = min(window.now + lead(count), window.farthest)
            if within > window.until and soonest <= within:
                soonest = self._due(count, within, due_of)
                if soonest <= within:
                    self._looks.clear()  # they will be claimed
                    return soonest
            if within == window.farthest:  # more rows cannot be due sooner
                break
        return 0

    def _due(self, count: int, within: int, due_of: Callable[[int], int]) -> int:
        """Return how soon the n-th row is due; if that is soon, some may be claimed by now."""
        look = self._looks.get(count)
        if look is None or self._added - look.added >= count // 2 or look.due <= within:
            look = self._looks[count] = _Look(due_of(count), self._added)
        return look.due
