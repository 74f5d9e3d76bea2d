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


class _Look(NamedTuple):
    due: int
    added: int
    claimed: int


class Ahead:
    """Remembers what was seen of the rows that fall due next."""

    def __init__(self) -> None:
        self._looks: dict[int, _Look] = {}
        self._added = 0
        self._claimed = 0

    def changed(self, added: int, claimed: int) -> None:
        """Take note of how many rows a commit has made pending, and how many it has claimed."""
        self._added += added
        self._claimed += claimed

    def presses(
        self, window: Window, least: int, lead: Callable[[int], int], due_of: Callable[[int], int]
    ) -> bool:
        """Tell whether rows are due sooner than they could be claimed if it began at their time.

        ``least`` is at or before the first due instant, ``due_of`` looks up that of the n-th row,
        and ``lead`` says how long before they are due n rows need.
        """
        soonest = least
        for count in _COUNTS:
            within = min(window.now + lead(count), window.farthest)
            if within > window.until and soonest <= within:
                soonest = self._due(count, within, due_of)
                if soonest <= within:
                    return True
            if within == window.farthest:  # more rows cannot be due sooner
                break
        return False

    def _due(self, count: int, within: int, due_of: Callable[[int], int]) -> int:
        look = self._looks.get(count)
        if look is None or self._is_old(look, count, within):
            look = self._looks[count] = _Look(due_of(count), self._added, self._claimed)
        return look.due

    def _is_old(self, look: _Look, count: int, within: int) -> bool:
        if self._added - look.added >= count // 2:
            return True
        return look.due <= within and self._claimed - look.claimed >= count // 4
