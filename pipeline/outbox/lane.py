"""One lane: claimed messages in order of their instant, what may go out now, and what may not.

No input or output here: the lane is the publish protocol's memory, and every decision in it is a
function of what it was told and the time it was given.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple

import pyarrow as pa

from pipeline.outbox.gone import Gone
from pipeline.outbox.item import Chunk, Item
from pipeline.outbox.marker import NOTHING_OUT, Marker
from state.admission import HighMarks
from state.version import Coordinates, Version, is_newer

MOST = 10_000  # messages in one transaction, if those left behind are due later
NAMED = 200  # versions that a marker names as not out
SEEN = 100_000  # records known to be on their way to a batch
_DUE = attrgetter("due")
_CHUNK = attrgetter("chunk")


@dataclass(frozen=True)
class Flush:
    """What goes out in one transaction: the items, in order of due, and the marker for them."""

    items: list[Item]
    marker: Marker

    @cached_property
    def chunks(self) -> frozenset[Chunk]:
        """The hand-overs that the items came with."""
        return frozenset(map(_CHUNK, self.items))


class Ceded(NamedTuple):
    """What a lane gives away to be published by others, and what they must know for it."""

    items: list[Item]
    upto: int  # nothing that is due up to this instant stays with the lane ...
    not_out: list[tuple[int, Coordinates]]  # ... but for these, with their due


@dataclass(slots=True)
class Lane:
    """Holds the claims of one lane; the caller brings the lock."""

    number: int
    lanes: int
    hold_limit: int = 0  # microseconds a message may be held for a newer record of its key
    handed: int = NOTHING_OUT
    watermark: int = NOTHING_OUT
    _items: list[Item] = field(default_factory=list)  # ordered by due; some no longer waiting
    _waiting: dict[bytes, Item] = field(default_factory=dict)
    # Several of a key may wait: occurrences of a repeat, or versions that a crash left.
    _besides: dict[bytes, list[Item]] = field(default_factory=dict)
    _taken_back: list[tuple[int, Coordinates]] = field(default_factory=list)  # not committed yet
    _held: list[Item] = field(default_factory=list)  # due, and held for a newer record
    _seen: dict[bytes, Version] = field(default_factory=dict)
    _gone: Gone = field(default_factory=Gone)

    @property
    def waiting(self) -> int:
        """How many messages wait."""
        return len(self._waiting) + sum(map(len, self._besides.values()))

    @property
    def held(self) -> int:
        """How many of these are due, and held."""
        return sum(item.waiting for item in self._held)

    def overdue(self, now: int) -> int:
        """Count what was due before ``now``; a few of them may be taken back already."""
        return bisect_left(self._items, now, key=_DUE) + self.held

    def least_due(self) -> int | None:
        """Return the instant of the oldest message that waits, held or not."""
        dues = [item.due for item in self._held if item.waiting]
        first = next((item.due for item in self._items if item.waiting), None)
        return min(dues if first is None else [*dues, first], default=None)

    def add(self, items: list[Item], batch: int) -> None:
        """Take over the claims of ``batch``; from now on a marker speaks for them too."""
        self._items.extend(items)
        self._items.sort(key=_DUE)  # two ordered runs: linear
        for item in items:
            identity = item.chunk.identity[item.index]
            if self._waiting.setdefault(identity, item) is not item:
                self._besides.setdefault(identity, []).append(item)
        for identity in [i.identity for i in items if i.identity in self._seen]:
            self._hold(identity)
        self.handed = batch

    def retract(self, identity: bytes, version: Version) -> Item | None:
        """Take back one that waits for ``identity`` if ``version`` is newer.

        Until ``lift_holds`` the lane's marker names it as not out: if the job dies before the
        command that retracted it is committed, the row is still claimed and must not count as
        published.
        """
        self._gone.forget(identity)
        for item in self._all_of(identity):
            if is_newer(version, item.version):
                self._let_go(item)
                self._taken_back.append((item.due, item.version.coordinates))
                return item
        return None

    def waiting_for(self, identity: bytes) -> Item | None:
        """Return what waits for ``identity``; of several what is due first."""
        return min(self._all_of(identity), key=_DUE, default=None)

    def take(self, item: Item) -> bool:
        """Take one message back, if it still waits; as with ``retract``."""
        if not item.waiting:
            return False
        self._let_go(item)
        self._taken_back.append((item.due, item.version.coordinates))
        return True

    def take_back(self, holds: Callable[[str, str | None], bool]) -> list[Item]:
        """Take back all that ``holds`` is true for, by kind and topic; as with ``retract``."""
        chosen = [
            item
            for item in (*self._held, *self._items)
            if item.waiting and holds(item.chunk.kind[item.index], item.chunk.topic[item.index])
        ]
        for item in chosen:
            self._let_go(item)
            self._taken_back.append((item.due, item.version.coordinates))
        return chosen

    def gone(self, identity: bytes, version: Version) -> int | None:
        """Return the due instant of what left for ``identity`` before the newer ``version`` came.

        None where nothing left, or too long ago to be remembered.
        """
        return self._gone.due(identity, version)

    def lift_holds(self) -> None:
        """Forget what was retracted: it is committed as such."""
        self._taken_back.clear()

    def saw(self, identity: bytes, version: Version) -> None:
        """Hold what waits for ``identity``: a record of its key is on its way to a batch.

        It may replace or cancel the message, which then must not leave before the record is read.
        """
        if len(self._seen) >= SEEN:
            del self._seen[next(iter(self._seen))]  # seen first, so read first
        self._seen[identity] = version
        self._hold(identity)

    def caught_up(self, taken: HighMarks) -> bool:
        """Let go of what is held for records that a batch has read by now; tell whether any was."""
        read = [i for i, v in self._seen.items() if v.offset <= taken.of(v.topic, v.partition)]
        held = [item for identity in read for item in self._all_of(identity) if item.held]
        for identity in read:
            del self._seen[identity]
        for item in held:
            item.held = False
        return bool(held)

    def next_due(self) -> int | None:
        """Return the instant at which something may have to go out next."""
        gone = 0
        while gone < len(self._items) and not self._items[gone].waiting:
            gone += 1
        del self._items[:gone]
        times = [self._free_at(item) for item in self._held if item.waiting]
        times += [self._items[0].due] if self._items else []
        return min(times, default=None)

    def release(self, now: int) -> Flush | None:
        """Let go of all that is due at ``now``, with the marker that will cover it.

        A clock that stepped back never makes a marker claim less than an earlier one: time is the
        later of ``now`` and the watermark.
        """
        upto = self._bound(max(now, self.watermark))
        if upto < self.watermark:
            return None
        cut = bisect_right(self._items, upto, key=_DUE)
        if cut > MOST:  # never below the watermark: the marker would claim what is not out
            upto = max(self._items[MOST - 1].due, self.watermark)
            cut = bisect_right(self._items, upto, key=_DUE)
        due = self._first(cut, now)
        if not due:
            return None
        return Flush(due, Marker(self.handed, upto, self.lanes, self._not_out(upto)))

    def cede(self, now: int) -> Ceded:
        """Let go of all that is due at ``now``, to be published by others; what is held stays."""
        upto = max(now, self.watermark)
        items = self._first(bisect_right(self._items, upto, key=_DUE), now)
        held = [(item.due, item.version.coordinates) for item in self._held]
        return Ceded(items, upto, [*self._taken_back, *held])

    def leave_out(self, not_out: Iterable[tuple[int, Coordinates]]) -> None:
        """Name these in every marker: they stay with the lane that ceded the others."""
        self._taken_back.extend(not_out)

    def seen_among(self, identities: pa.ChunkedArray) -> list[int]:
        """Return the places of those of which a newer record may be on its way to a batch."""
        if not self._seen:
            return []
        return [i for i, each in enumerate(identities.to_pylist()) if each in self._seen]

    def left(self, rows: pa.Table) -> None:
        """Note that others have published these rows, in the order of the table."""
        self._gone.add_rows(rows)

    def published(self, flush: Flush, decided: Container[int] = ()) -> None:
        """Note that the flush is out, but for messages ``decided`` otherwise, by place."""
        self.watermark = flush.marker.watermark
        out = flush.items
        if decided:
            out = [item for number, item in enumerate(out) if number not in decided]
        self._gone.add(out)

    def rest(self) -> list[Item]:
        """Return what still waits, as a job that stops cleanly puts it back."""
        return [item for item in (*self._held, *self._items) if item.waiting]

    def _first(self, count: int, now: int) -> list[Item]:
        """Let go of the first of all, as many, but for those that are held."""
        due = [item for item in self._items[:count] if item.waiting]
        del self._items[:count]
        if self._held or self._seen:
            due = self._without_held(due, now)
        if self._besides:
            for item in due:
                self._let_go(item)
            return due
        for item in due:
            item.waiting = False
            del self._waiting[item.chunk.identity[item.index]]
        return due

    def _bound(self, upto: int) -> int:
        """Return up to which instant to publish, so that the marker need not name too many."""
        if len(self._taken_back) <= NAMED:
            return upto
        self._taken_back.sort()
        return min(upto, self._taken_back[NAMED][0] - 1)

    def _not_out(self, upto: int) -> tuple[Coordinates, ...]:
        taken_back = [name for due, name in self._taken_back if due <= upto]
        return (*taken_back, *(item.version.coordinates for item in self._held))

    def _without_held(self, due: list[Item], now: int) -> list[Item]:
        """Set aside what is held, and bring in what no longer is; so many are held at most."""
        waiting = sorted([item for item in self._held if item.waiting] + due, key=_DUE)
        held = [item for item in waiting if item.held and self._free_at(item) > now][:NAMED]
        self._held, kept = held, set(held)
        return [item for item in waiting if item not in kept] if kept else waiting

    def _free_at(self, item: Item) -> int:
        return item.due + self.hold_limit if item.held else item.due

    def _hold(self, identity: bytes) -> None:
        for item in self._all_of(identity):
            item.held = is_newer(self._seen[identity], item.version)

    def _all_of(self, identity: bytes) -> list[Item]:
        """Return what waits for an identity."""
        item = self._waiting.get(identity)
        return [] if item is None else [item, *self._besides.get(identity, ())]

    def _let_go(self, item: Item) -> None:
        item.waiting = False
        identity = item.chunk.identity[item.index]
        if identity not in self._besides:
            del self._waiting[identity]
            return
        self._waiting[identity], *others = [i for i in self._all_of(identity) if i is not item]
        if others:
            self._besides[identity] = others
        else:
            del self._besides[identity]
