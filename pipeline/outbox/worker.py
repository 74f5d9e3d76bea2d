"""A lane's thread: sleeps until the next instant, publishes what is due, reports it."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import pyarrow as pa

from pipeline.clock import now_micros
from pipeline.observe.observer import SILENT, Flushed, Lanes, Observer, Sent
from pipeline.outbox.item import Item
from pipeline.outbox.lane import MOST, Ceded, Flush, Lane
from pipeline.outbox.publisher import Published, Publisher
from pipeline.outbox.report import Report
from state.admission import HighMarks
from state.version import Version

log = logging.getLogger(__name__)

_IDLE = 60.0  # seconds
_FEW = 20  # messages in a flush, after which a lane rests for no more than the flush interval
_LONGEST_REST = 4.0  # flush intervals
_SHORTEST = 1_000  # microseconds; a message that is due but held waits for the commit


class Worker:
    """Drives one lane; every public call is safe from another thread."""

    def __init__(
        self,
        lane: Lane,
        publisher: Publisher,
        report: Report,
        flush_interval: float,
        clock: Callable[[], int],
        observer: Observer = SILENT,
    ) -> None:
        self.lane = lane
        self._publisher = publisher
        self._report = report
        self._flush_interval = flush_interval
        self._clock = clock
        self._observer = observer
        self._changed = threading.Condition()
        self._stopping = False
        self._busy = False
        self._resting = False
        self._flying: tuple[Flush, float] | None = None  # on its way out, and since when
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=f"lane-{lane.number}", daemon=True)

    @property
    def waiting(self) -> int:
        """How many messages wait on this lane."""
        with self._changed:
            return self.lane.waiting

    def standing(self, now: int) -> Lanes:
        """Tell how the lane stands."""
        with self._changed:
            lane, flying = self.lane, self._flying
            items = flying[0].items if flying else []
            dues = [lane.least_due(), *(item.due for item in items[:1])]
            return Lanes(
                waiting=lane.waiting + len(items),
                held=lane.held,
                overdue=lane.overdue(now) + len(items),
                least_due=min((due for due in dues if due is not None), default=None),
                trying=time.monotonic() - flying[1] if flying else 0.0,
                stopped=(f"lane {lane.number}: {self._failure}",) if self._failure else (),
            )

    def next_due(self) -> int | None:
        """Return the instant of the next message that waits."""
        with self._changed:
            return self.lane.next_due()

    def start(self) -> None:
        """Begin to publish."""
        self._thread.start()

    def add(self, items: list[Item], batch: int) -> None:
        """Take over claims."""
        with self._changed:
            self.lane.add(items, batch)
            self._changed.notify_all()

    def rest(self, patience: float) -> bool:
        """Let the lane end what it is doing and then publish nothing until ``resume``.

        False if it has stopped, or if that takes longer than so many seconds.
        """
        with self._changed:
            self._resting = True
            ended = self._changed.wait_for(lambda: not self._busy, patience)
            return ended and not self._stopping

    def resume(self) -> None:
        """Publish again."""
        with self._changed:
            self._resting = False
            self._changed.notify_all()

    def seen_among(self, identities: pa.ChunkedArray) -> list[int]:
        """Return the places of those of which a newer record may be on its way."""
        with self._changed:
            return self.lane.seen_among(identities)

    def cede(self, more: list[Item], batch: int, now: int) -> Ceded:
        """Take over some claims, then let go of all that is due, for others to publish."""
        with self._changed:
            self.lane.add(more, batch)
            return self.lane.cede(now)

    def ceded_until(self, watermark: int, out: pa.Table) -> None:
        """Go on where others ended: at their watermark, with these rows out."""
        with self._changed:
            self.lane.watermark = watermark
            self.lane.left(out)

    def retract(self, identity: bytes, version: Version) -> Item | None:
        """Take back one message, unless it is out or on its way."""
        with self._changed:
            return self.lane.retract(identity, version)

    def waiting_for(self, identity: bytes) -> Item | None:
        """Return what waits for an identity."""
        with self._changed:
            return self.lane.waiting_for(identity)

    def take(self, item: Item) -> bool:
        """Take one message back, unless it is out or on its way."""
        with self._changed:
            return self.lane.take(item)

    def take_back(self, holds: Callable[[str, str | None], bool]) -> list[Item]:
        """Take back all that ``holds`` is true for, by kind and topic."""
        with self._changed:
            return self.lane.take_back(holds)

    def gone(self, identity: bytes, version: Version) -> int | None:
        """Return the due instant of what a command came too late for, if it left not long ago."""
        with self._changed:
            return self.lane.gone(identity, version)

    def lift_holds(self) -> None:
        """Let the watermark move on."""
        with self._changed:
            self.lane.lift_holds()
            self._changed.notify_all()

    def saw(self, records: list[tuple[bytes, Version]]) -> None:
        """Hold what waits for these identities: newer records are on their way to a batch."""
        with self._changed:
            for identity, version in records:
                self.lane.saw(identity, version)

    def caught_up(self, taken: HighMarks) -> None:
        """Let go of what was held for records that are read by now."""
        with self._changed:
            if self.lane.caught_up(taken):
                self._changed.notify_all()

    def raise_failure(self) -> None:
        """Raise what ended the thread, if anything did."""
        if self._failure is not None:
            raise self._failure

    def drain(self, stopped: Callable[[], bool]) -> None:
        """Wait until nothing on the lane is due, or told to stop."""
        with self._changed:
            while not self._changed.wait_for(self._nothing_due, timeout=0.5):
                if stopped():
                    return

    def stop(self) -> None:
        """Ask the thread to end after what it is doing."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()

    def join(self) -> None:
        """Wait for the thread, then close the publisher."""
        if self._thread.ident is not None:
            self._thread.join()
        self._publisher.close()

    def _run(self) -> None:
        try:
            while (flush := self._next_flush()) is not None:
                self._publish(flush)
        except BaseException as failure:
            log.error("lane %d stops: %s", self.lane.number, failure)
            self._failure = failure
        with self._changed:
            self._busy = False
            self._stopping = True
            self._changed.notify_all()

    def _next_flush(self) -> Flush | None:
        with self._changed:
            while not self._stopping:
                if self._resting:
                    self._changed.wait(_IDLE)
                    continue
                now = self._clock()
                flush = self.lane.release(now)
                if flush is not None:
                    self._busy, self._flying = True, (flush, time.monotonic())
                    return flush
                self._changed.wait(self._pause(now))
        return None

    def _pause(self, now: int) -> float:
        due = self.lane.next_due()
        if due is None:
            return _IDLE
        return min(max(due - now, _SHORTEST) / 1_000_000, _IDLE)

    def _publish(self, flush: Flush) -> None:
        began = now_micros()
        published = self._publisher.publish(flush)
        self._report.add(flush.items, published)
        with self._changed:
            self.lane.published(flush, published.decided)
            self._busy, self._flying = False, None
            self._changed.notify_all()
        if self._observer.listens:
            seen = partial(_sent, flush, published)
            self._observer.flushed(Flushed(self.lane.number, began, now_micros(), seen))
        time.sleep(self._rest(len(flush.items)))

    def _rest(self, sent: int) -> float:
        """Return how long to rest after a flush, however long that took.

        A transaction costs the broker the same whatever is in it. So where many messages fall due,
        and on a slow broker, transactions must grow in size, not in number. In a backlog they are
        as large as can be, and follow each other at once.
        """
        if sent >= MOST:
            return 0.0
        return self._flush_interval * min(max(sent / _FEW, 1.0), _LONGEST_REST)

    def _nothing_due(self) -> bool:
        due = self.lane.next_due()
        return self._stopping or (not self._busy and (due is None or due > self._clock()))


def _sent(flush: Flush, published: Published) -> Iterator[Sent]:
    """Yield the messages of a flush that are out."""
    return sent(item for i, item in enumerate(flush.items) if i not in published.decided)


def sent(items: Iterable[Item]) -> Iterator[Sent]:
    """Yield the messages among what is out."""
    for item in items:
        if item.is_message:
            chunk, i = item.chunk, item.index
            yield Sent(chunk.topic[i], chunk.headers[i] or (), item.scheduled)
