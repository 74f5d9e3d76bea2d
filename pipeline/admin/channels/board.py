"""What channels show: events until their end, which of them are locked, which are deleted.

Whoever reads the same records comes to the same board: each is judged by its own timestamp and by
the records before it on the same topic. Events that came due are on another topic than what was
done to them, so a lock or a delete may be read before its event; it is kept until then.
"""

import heapq
from dataclasses import dataclass
from typing import NamedTuple

# Locks and deletes are forgotten this long after they have ceased to count, so that a clock that is
# ahead of the brokers' does not forget one that still does.
SLACK = 5 * 60 * 1_000_000


class Name(NamedTuple):
    """Names an event."""

    channel: str
    event: str


@dataclass(frozen=True, slots=True)
class Event:
    """An event that is there; instants are microseconds."""

    name: Name
    data: str
    published: int
    until: int  # it is not there any more from this instant on


class Board:
    """Everything that is there, in memory; one thread at a time."""

    def __init__(self) -> None:
        self._events: dict[str, dict[str, Event]] = {}
        self._locks: dict[Name, int] = {}
        self._deleted: dict[Name, int] = {}
        self._ends: list[tuple[int, Name]] = []
        self._size = 0

    @property
    def size(self) -> int:
        """How many events are held."""
        return self._size

    def publish(self, event: Event, now: int) -> bool:
        """Show an event; not again if it is there, was deleted, or is over by ``now``."""
        channel = self._events.setdefault(event.name.channel, {})
        if event.until <= now or event.name in self._deleted or event.name.event in channel:
            return False
        channel[event.name.event] = event
        self._size += 1
        self._remember(event.name, event.until)
        return True

    def lock(self, name: Name, at: int, until: int, event_until: int) -> bool:
        """Lock an event that ends at ``event_until``; False if it is locked, deleted or over."""
        if not self._counts(name, at, event_until) or self._locks.get(name, at) > at:
            return False
        self._locks[name] = until
        self._remember(name, until + SLACK)
        return True

    def unlock(self, name: Name, at: int, event_until: int) -> bool:
        """Unlock an event, whether it was locked or not; False if it is deleted or over."""
        if not self._counts(name, at, event_until):
            return False
        self._locks.pop(name, None)
        return True

    def delete(self, name: Name, at: int, event_until: int) -> bool:
        """Delete an event; False if it is already, or over."""
        if not self._counts(name, at, event_until):
            return False
        self._deleted[name] = event_until
        self._remember(name, event_until + SLACK)
        self._take_down(name)
        return True

    def event(self, name: Name, now: int) -> Event | None:
        """Return an event if it is there."""
        event = self._events.get(name.channel, {}).get(name.event)
        return event if event is not None and event.until > now else None

    def events(self, channel: str, now: int) -> list[tuple[Event, bool]]:
        """Return the events of a channel, the oldest first, and whether each is locked."""
        there = [each for each in self._events.get(channel, {}).values() if each.until > now]
        there.sort(key=lambda each: (each.published, each.name))
        return [(each, self._locks.get(each.name, now) > now) for each in there]

    def forget(self, now: int) -> None:
        """Drop what does not count any more."""
        while self._ends and self._ends[0][0] <= now:
            _, name = heapq.heappop(self._ends)
            if self.event(name, now) is None:
                self._take_down(name)
            for kept in (self._locks, self._deleted):
                if kept.get(name, now) + SLACK <= now:
                    del kept[name]

    def _counts(self, name: Name, at: int, event_until: int) -> bool:
        return event_until > at and name not in self._deleted

    def _take_down(self, name: Name) -> None:
        channel = self._events.get(name.channel, {})
        if channel.pop(name.event, None) is not None:
            self._size -= 1
        if not channel:
            self._events.pop(name.channel, None)

    def _remember(self, name: Name, until: int) -> None:
        heapq.heappush(self._ends, (until, name))
