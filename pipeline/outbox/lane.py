"""One lane: claimed messages in order of their instant, what may go out now, and what may not.

No input or output here: the lane is the publish protocol's memory, and every decision in it is a
function of what it was told and the time it was given.
"""

from bisect import bisect_right
from collections.abc import Container
from dataclasses import dataclass, field
from itertools import islice
from operator import attrgetter

from pipeline.outbox.item import Item
from pipeline.outbox.marker import NOTHING_OUT, Marker
from state.version import Version, is_newer

MOST = 5_000  # messages in one transaction, if those left behind are due later
REMEMBERED = 10_000  # messages let go of, so that a command that comes too late is told so
_DUE = attrgetter("due")


@dataclass(frozen=True, slots=True)
class Flush:
    """What goes out in one transaction: the items and the marker that says so."""

    items: list[Item]
    marker: Marker


@dataclass(slots=True)
class Lane:
    """Holds the claims of one lane; the caller brings the lock."""

    number: int
    lanes: int
    handed: int = NOTHING_OUT
    watermark: int = NOTHING_OUT
    _items: list[Item] = field(default_factory=list)  # ordered by due; some no longer waiting
    _waiting: dict[bytes, Item] = field(default_factory=dict)
    # After a crash two versions of a key may wait: one was on its way when the other came.
    _besides: list[Item] = field(default_factory=list)
    _holds: list[int] = field(default_factory=list)
    # Source coordinates and due of what left, the newest last; not the items, which would keep the
    # whole batch they came with in memory.
    _gone: dict[bytes, tuple[int, int, int, int]] = field(default_factory=dict)

    @property
    def waiting(self) -> int:
        """How many messages wait."""
        return len(self._waiting) + sum(item.waiting for item in self._besides)

    def add(self, items: list[Item], batch: int) -> None:
        """Take over the claims of ``batch``; from now on a marker speaks for them too."""
        self._items.extend(items)
        self._items.sort(key=_DUE)  # two ordered runs: linear
        for item in items:
            other = self._waiting.setdefault(item.identity, item)
            if other is not item:
                self._besides.append(item)
        self.handed = batch

    def retract(self, identity: bytes, version: Version) -> Item | None:
        """Take back one that waits for ``identity`` if ``version`` is newer; hold the watermark.

        Until ``lift_holds`` the lane's marker stays below the due instant of the row taken back:
        if the job dies before the command that retracted it is committed, the row is still claimed
        and must not count as published.
        """
        self._gone.pop(identity, None)  # what comes next is about the new command
        self._besides = [item for item in self._besides if item.waiting]
        for item in (self._waiting.get(identity), *self._besides):
            if item and item.identity == identity and is_newer(version, item.version):
                self._let_go(item)
                self._holds.append(item.due)
                return item
        return None

    def gone(self, identity: bytes, version: Version) -> int | None:
        """Return the due instant of what left for ``identity`` before the newer ``version`` came.

        None where nothing left, or too long ago to be remembered.
        """
        if identity not in self._gone:
            return None
        *place, due = self._gone[identity]
        return due if is_newer(version, Version(version.topic, *place)) else None

    def lift_holds(self) -> None:
        """Forget the holds: what was retracted is committed as such."""
        self._holds.clear()

    def next_due(self) -> int | None:
        """Return the instant of the next message that waits."""
        gone = 0
        while gone < len(self._items) and not self._items[gone].waiting:
            gone += 1
        del self._items[:gone]
        return self._items[0].due if self._items else None

    def release(self, now: int) -> Flush | None:
        """Let go of all that is due at ``now``, with the marker that will cover it.

        A clock that stepped back never makes a marker claim less than an earlier one: time is the
        later of ``now`` and the watermark.
        """
        upto = max(now, self.watermark)
        if self._holds:
            upto = min(upto, min(self._holds) - 1)
        if upto < self.watermark:
            return None
        cut = bisect_right(self._items, upto, key=_DUE)
        if cut > MOST:  # never below the watermark: the marker would claim what is not out
            upto = max(self._items[MOST - 1].due, self.watermark)
            cut = bisect_right(self._items, upto, key=_DUE)
        due = [item for item in self._items[:cut] if item.waiting]
        if not due:
            return None
        del self._items[:cut]
        for item in due:
            self._let_go(item)
        return Flush(due, Marker(self.handed, upto, self.lanes))

    def published(self, flush: Flush, refused: Container[int] = ()) -> None:
        """Note that the flush is out, but for the messages that Kafka ``refused``, by place."""
        self.watermark = flush.marker.watermark
        out = [item for number, item in enumerate(flush.items) if number not in refused]
        self._remember(out[-REMEMBERED:])

    def rest(self) -> list[Item]:
        """Return what still waits, as a job that stops cleanly puts it back."""
        return [item for item in self._items if item.waiting]

    def _remember(self, items: list[Item]) -> None:
        for item in items:
            chunk, i, identity = item.chunk, item.index, item.identity
            self._gone.pop(identity, None)
            self._gone[identity] = (
                chunk.partition[i],
                chunk.offset[i],
                chunk.timestamp[i],
                item.due,
            )
        for identity in list(islice(self._gone, max(0, len(self._gone) - REMEMBERED))):
            del self._gone[identity]

    def _let_go(self, item: Item) -> None:
        item.waiting = False
        if self._waiting.get(item.identity) is item:
            del self._waiting[item.identity]
