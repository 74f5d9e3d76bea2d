"""Knows what this process wrote of late, and lets one write of a key in at a time."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pipeline.admin.memory import Memory
from pipeline.admin.sent import Sent

Name = tuple[str, bytes]  # the namespace of a schedule, and its key

_MOST = 100_000
_TURNS = 512
DAY = 86_400_000_000


class Writes:
    """The last record of each key; whoever writes under a condition has the key to themselves."""

    def __init__(self, keep_closed: int) -> None:
        # What the state forgets cannot be told from what it does not know yet.
        self._last: Memory[Name, Sent] = Memory(_MOST, min(DAY, keep_closed))
        self._turns = [threading.Lock() for _ in range(_TURNS)]

    @contextmanager
    def turn(self, name: Name) -> Iterator[None]:
        """Hold the key while its condition is checked and its record is sent."""
        with self._turns[hash(name) % _TURNS]:
            yield

    def last(self, name: Name) -> Sent | None:
        """Return what was written last."""
        return self._last.get(name)

    def note(self, name: Name, sent: Sent) -> None:
        """Remember what was written."""
        self._last.put(name, sent)
