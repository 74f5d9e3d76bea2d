"""The outbox: lanes with a thread each that wait for the next instant and publish what is due.

Called by the tick: ``retract`` before a batch commits, ``hand_over`` after, ``reported`` for what
went out meanwhile. A lane that fails makes the next call raise, so that the job stops instead of
falling silent.
"""

import threading
from collections.abc import Callable

import pyarrow as pa

from pipeline.clock import now_micros
from pipeline.outbox.item import Item, items_by_lane
from pipeline.outbox.lane import Lane
from pipeline.outbox.publisher import Publisher
from pipeline.outbox.report import Report
from pipeline.outbox.worker import Worker
from state.version import Version


class Outbox:
    """Holds claims from hand-over to release."""

    def __init__(
        self,
        publishers: list[Publisher],
        flush_interval: float,
        stopping: threading.Event,
        clock: Callable[[], int] = now_micros,
    ) -> None:
        self._stopping = stopping
        self._lanes = len(publishers)
        self._report = Report()
        self._workers = [
            Worker(Lane(number, self._lanes), publisher, self._report, flush_interval, clock)
            for number, publisher in enumerate(publishers)
        ]
        self._handed = -1

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
        self.hand_over(batch, claims)
        for worker in self._workers:
            worker.start()

    def hand_over(self, batch: int, claims: pa.Table) -> None:
        """Take over the claims of ``batch``, once: a batch handed over before is ignored."""
        if batch <= self._handed:
            return
        self._handed = batch
        parts: list[list[Item]] = [[] for _ in self._workers]
        for lane, item in items_by_lane(claims, self._lanes):
            parts[lane].append(item)
        for worker, items in zip(self._workers, parts, strict=True):
            worker.add(items, batch)

    def retract(self, identity: bytes, number: int, version: Version) -> Item | None:
        """Take back what waits for an identity (``number``: its hash) if ``version`` is newer."""
        return self._workers[number % self._lanes].retract(identity, version)

    def gone(self, identity: bytes, number: int, version: Version) -> int | None:
        """Return the due instant of what ``version`` came too late for, if it left lately."""
        return self._workers[number % self._lanes].gone(identity, version)

    def lift_holds(self) -> None:
        """Say that what was retracted is committed."""
        for worker in self._workers:
            worker.lift_holds()

    def reported(self) -> pa.Table:
        """Return the outcomes since the last call; raise what stopped a lane, if one stopped."""
        for worker in self._workers:
            worker.raise_failure()
        return self._report.take()

    def is_quiet(self, until: int) -> bool:
        """Tell whether nothing falls due up to an instant."""
        dues = [worker.next_due() for worker in self._workers]
        return all(due is None or due > until for due in dues)

    def drain(self, stopped: Callable[[], bool] = lambda: False) -> None:
        """Wait until nothing that is due is left, a lane has stopped, or told to."""
        for worker in self._workers:
            worker.drain(stopped)

    def stop(self) -> list[Item]:
        """End the lanes after what they are doing, and return what still waits."""
        self._stopping.set()
        for worker in self._workers:
            worker.stop()
        for worker in self._workers:
            worker.join()
        return [item for worker in self._workers for item in worker.lane.rest()]
