"""The outbox: lanes with a thread each that wait for the next instant and publish what is due.

Called by the tick: ``retract`` before a batch commits, ``hand_over`` after, ``reported`` for what
went out meanwhile. A lane that fails makes the next call raise, so that the job stops instead of
falling silent.
"""

import threading
import time
from collections.abc import Callable, Iterable, Sequence

import pyarrow as pa

from pipeline.clock import now_micros
from pipeline.observe.observer import SILENT, Lanes, Observer
from pipeline.outbox.item import Item, items_by_lane
from pipeline.outbox.lane import Lane
from pipeline.outbox.publisher import Publisher
from pipeline.outbox.relay import Relay
from pipeline.outbox.report import Report
from pipeline.outbox.worker import Worker
from state.admission import HighMarks
from state.version import Version

_LOOK_EVERY = 0.02  # seconds
_STUCK = 0.3  # seconds in which nothing has gone out


class Outbox:
    """Holds claims from hand-over to release."""

    def __init__(
        self,
        publishers: list[Publisher],
        flush_interval: float,
        stopping: threading.Event,
        clock: Callable[[], int] = now_micros,
        hold_limit: int = 0,
        observer: Observer = SILENT,
        relay: Callable[[Sequence[Worker], Report], Relay] | None = None,
    ) -> None:
        self._stopping = stopping
        self._lanes = len(publishers)
        self._clock = clock
        self._report = Report(observer)
        lanes = [Lane(number, self._lanes, hold_limit) for number in range(self._lanes)]
        self._workers = [
            Worker(lane, publisher, self._report, flush_interval, clock, observer)
            for lane, publisher in zip(lanes, publishers, strict=True)
        ]
        self._relay = None if relay is None else relay(self._workers, self._report)
        self._handed = -1
        self._read = HighMarks()

    @property
    def waiting(self) -> int:
        """How many messages wait for their instant."""
        return sum(self.waiting_by_lane())

    def waiting_by_lane(self) -> list[int]:
        """Return how many wait on each lane."""
        return [worker.waiting for worker in self._workers]

    @property
    def watermark(self) -> int:
        """The latest instant up to which a lane has let go of everything."""
        return max(worker.lane.watermark for worker in self._workers)

    def begin(self, claims: pa.Table, batch: int, watermarks: list[int]) -> None:
        """Take over what an earlier run left: claims not yet out, and how far each lane came."""
        for worker, watermark in zip(self._workers, watermarks, strict=True):
            worker.lane.watermark = watermark
        self._handed = batch
        self._add(batch, claims)
        for worker in self._workers:
            worker.start()

    def hand_over(self, batch: int, claims: pa.Table) -> None:
        """Take over the claims of ``batch``, once: a batch handed over before is ignored."""
        if batch <= self._handed:
            return
        self._handed = batch
        if self._relay is None:
            self._add(batch, claims)
            return
        self._add(batch, self._relay.hand_over(batch, claims, self._add))
        self._relay.resume()

    def unseen(self) -> list[Item]:
        """Return what executors have published and nobody has seen: the receipts are lost."""
        return [] if self._relay is None else self._relay.unseen()

    def _add(self, batch: int, claims: pa.Table) -> None:
        parts: list[list[Item]] = [[] for _ in self._workers]
        for lane, item in items_by_lane(claims, self._lanes):
            parts[lane].append(item)
        for worker, items in zip(self._workers, parts, strict=True):
            worker.add(items, batch)

    def retract(self, identity: bytes, number: int, version: Version) -> Item | None:
        """Take back what waits for an identity (``number``: its hash) if ``version`` is newer."""
        return self._workers[number % self._lanes].retract(identity, version)

    def waiting_for(self, identity: bytes, number: int) -> Item | None:
        """Return what waits for an identity (``number``: its hash); it may leave any moment."""
        return self._workers[number % self._lanes].waiting_for(identity)

    def take(self, item: Item, number: int) -> bool:
        """Take back this very message (``number``: the hash of its identity), if it still waits."""
        return self._workers[number % self._lanes].take(item)

    def take_back(self, holds: Callable[[str, str | None], bool]) -> list[Item]:
        """Take back all that ``holds`` is true for, by kind and topic, as ``retract`` does."""
        return [item for worker in self._workers for item in worker.take_back(holds)]

    def gone(self, identity: bytes, number: int, version: Version) -> int | None:
        """Return the due instant of what ``version`` came too late for, if it left lately."""
        return self._workers[number % self._lanes].gone(identity, version)

    def lift_holds(self) -> None:
        """Say that what was retracted is committed."""
        for worker in self._workers:
            worker.lift_holds()

    def saw(self, records: Iterable[tuple[bytes, int, Version]]) -> None:
        """Take note of records on the input topics that no batch has read yet.

        Each is an identity, its hash and the version. What waits for them is held, for so long as
        ``hold_limit`` allows, until ``caught_up``.
        """
        parts: list[list[tuple[bytes, Version]]] = [[] for _ in self._workers]
        for identity, number, version in records:
            if version.offset > self._read.of(version.topic, version.partition):
                parts[number % self._lanes].append((identity, version))
        for worker, part in zip(self._workers, parts, strict=True):
            worker.saw(part)

    def caught_up(self, taken: HighMarks) -> None:
        """Say how far the input topics have been read and committed."""
        self._read.raise_all(taken)
        for worker in self._workers:
            worker.caught_up(taken)

    def reported(self, most: int | None = None) -> pa.Table:
        """Return the outcomes since the last call, at most ``most`` of them, the oldest first.

        Raise what stopped a lane, if one stopped.
        """
        for worker in self._workers:
            worker.raise_failure()
        return self._report.take(most)

    def standing(self) -> Lanes:
        """Tell how all lanes together stand; from any thread."""
        lanes = [worker.standing(self._clock()) for worker in self._workers]
        lanes += [away] if (away := self._relay and self._relay.away()) else []
        dues = [lane.least_due for lane in lanes if lane.least_due is not None]
        return Lanes(
            waiting=sum(lane.waiting for lane in lanes),
            held=sum(lane.held for lane in lanes),
            overdue=sum(lane.overdue for lane in lanes),
            least_due=min(dues, default=None),
            trying=max(lane.trying for lane in lanes),
            stopped=tuple(why for lane in lanes for why in lane.stopped),
        )

    def is_quiet(self, until: int) -> bool:
        """Tell whether nothing falls due up to an instant."""
        dues = [worker.next_due() for worker in self._workers]
        if self._relay is not None and self._relay.away() is not None:
            return False
        return all(due is None or due > until for due in dues)

    def drain(self, stopped: Callable[[], bool] = lambda: False) -> None:
        """Wait until nothing that is due is left, a lane has stopped, or told to."""
        for worker in self._workers:
            worker.drain(stopped)

    def ease(self, most: int, patience: float) -> None:
        """Wait until no more than ``most`` are overdue, for so many seconds at the longest.

        Not for lanes that do not get on: messages of others would wait for Kafka too.
        """
        until = time.monotonic() + patience
        least, fell_at = self._overdue(), time.monotonic()
        while least > most and time.monotonic() < min(until, fell_at + _STUCK):
            if self._stopping.wait(_LOOK_EVERY):
                return
            if (overdue := self._overdue()) < least:
                least, fell_at = overdue, time.monotonic()

    def _overdue(self) -> int:
        now = self._clock()
        return sum(worker.standing(now).overdue for worker in self._workers)

    def give_up(self) -> None:
        """Have whoever waits for Kafka to answer end with an error: the job is to stop."""
        self._stopping.set()

    def stop(self) -> list[Item]:
        """End the lanes after what they are doing, and return what still waits."""
        self.give_up()
        for worker in self._workers:
            worker.stop()
        for worker in self._workers:
            worker.join()
        return [item for worker in self._workers for item in worker.lane.rest()]
