"""The job without threads, Spark or broker: everything else in it is the product's own."""

import threading
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any, NamedTuple
from unittest.mock import patch

import pyarrow as pa
from build import SECOND, at
from model import OPEN, OUT, REFUSED, Model, Name
from small_kafka import RETRY, Crash, Fenced, Record, SmallKafka, SmallPublisher, name_of

import pipeline.outbox.recovery
import pipeline.tick
from pipeline.backlog import Backlog
from pipeline.horizon import Horizon
from pipeline.latest import latest
from pipeline.measure import Measure
from pipeline.outbox.item import items_by_lane
from pipeline.outbox.lane import Flush
from pipeline.outbox.outbox import Outbox
from pipeline.outbox.recovery import Recovered, recover
from pipeline.outbox.report import ended
from pipeline.outbox.worker import Worker
from pipeline.raw import TIMED_COMMANDS
from pipeline.tick import Ticker
from state.crashpoint import Point
from state.row import BATCH_TIME, Entry, Status
from state.version import Version

HOLD_LIMIT = 6 * SECOND
_NAMED = ("source_partition", "source_offset")


class Batch(NamedTuple):
    """What Spark has planned: it stays the same when it is replayed."""

    number: int
    time: int
    records: list[Record]
    notes: list[tuple[Name, int, int | None, bytes]]

    def lines(self) -> pa.Table:
        said = [record.line for record in self.records]
        said += [{"entry": Entry.NOTE.value, "payload": note[-1]} for note in self.notes]
        said.append({"entry": Entry.CLOCK.value})
        timed = [line | {BATCH_TIME: self.time} for line in said]
        return latest(pa.Table.from_pylist(timed, schema=TIMED_COMMANDS))

    def by_key(self) -> dict[bytes, list[Record]]:
        found = defaultdict(list)
        for record in sorted(self.records, key=lambda record: record.age):
            found[record.line["key"]].append(record)
        return found


class SmallJob:
    """A job that can be stopped between any two steps, and killed there."""

    def __init__(self, kept: Any, lanes: int, claim_limit: int) -> None:
        self.kept, self.lanes, self.claim_limit = kept, lanes, claim_limit
        self.now = self.highest = 0  # seconds
        self.model = Model(RETRY.max_attempts)
        self.kafka = SmallKafka(self.model, self.clock)
        self.taken, self.noted, self.number = [0, 0], 0, 0
        self.batch: Batch | None = None
        self.flights: dict[int, Flush] = {}
        self.reported: list[tuple[Name, int, int | None]] = []  # decisions the state is to learn of
        self.told: set[tuple[Name, int]] = set()  # those that the batch under way tells it
        self.at_point: Callable[[Point], None] = lambda point: None
        self.patches = ExitStack()
        for target, name, stand_in in (
            (pipeline.tick, "reach", lambda point: self.at_point(point)),
            (pipeline.tick, "now_micros", self.clock),
            (pipeline.outbox.recovery, "reach", lambda point: self.at_point(point)),
            (Worker, "start", lambda worker: None),
        ):
            self.patches.enter_context(patch.object(target, name, stand_in))
        self.start()

    def clock(self) -> int:
        return at(self.now)

    def move_clock(self, seconds: int) -> None:
        self.now += seconds
        self.highest = max(self.highest, self.now)

    def start(self, crash_on_marker: int | None = None) -> None:
        """Open the store, take over the lanes; a crash at a lane's first marker starts anew."""
        self.store = self.kept.open()
        self.kafka.state_id = self.store.state_id
        marker = self.kafka.markers.get(0)
        changes_lanes = marker is not None and marker.lanes != self.lanes

        def make(lane: int) -> SmallPublisher:
            fate = "after" if lane == crash_on_marker else "well"
            return SmallPublisher(self.kafka, lane, fate=fate)

        try:
            found = recover(make, self.lanes, self.store, self.clock())
        except Crash:
            found = None
        if changes_lanes:
            self.model.all_put_back()
        if found is None:
            self.start()
        else:
            self._begin(found)

    def _begin(self, found: Recovered) -> None:
        for publisher in found.publishers:
            publisher.fate = "well"
        self._check(found)
        self.outbox = Outbox(found.publishers, 0, threading.Event(), self.clock, HOLD_LIMIT)
        self.outbox.begin(found.waiting, self.store.last_batch, found.watermarks)
        self.outbox.reported = self._listening(self.outbox.reported)
        horizon, backlog = Horizon(4 * SECOND, 8 * SECOND), Backlog(self.claim_limit, 10_000, {})
        self.ticker = Ticker(self.store, self.outbox, horizon, backlog, Measure())
        self.ticker.close_when_new(found.out, self.clock())

    def _check(self, found: Recovered) -> None:
        for item in found.out:
            assert self.model.fates[name_of(item)].state in (OUT, REFUSED), "taken for out"
        for _, item in items_by_lane(found.waiting, 1):
            assert self.model.fates[name_of(item)].state == OPEN, "goes out once more"

    def crash(self, lanes: int, zombie: bool = False, crash_on_marker: int | None = None) -> None:
        """Lose all that is in memory and start; a zombie's transactions end while that happens."""
        flights, self.flights, self.reported, self.told = self.flights, {}, [], set()
        old = [worker._publisher for worker in self.outbox._workers]
        self.kept.close(self.store)

        def finish(point: Point) -> None:
            for lane in [lane for lane in flights if zombie]:
                with suppress(Fenced):
                    old[lane].publish(flights[lane])
                    del flights[lane]

        self.lanes, self.at_point = lanes, self._only_during_recovery(finish)
        for lane in [lane for lane in flights if not zombie or lane == 0]:
            self._never_left(flights[lane])
        self.start(crash_on_marker)
        self.at_point = lambda point: None
        for lane, flush in flights.items():
            with suppress(Fenced):
                old[lane].publish(flush)
                raise AssertionError(f"a zombie published on lane {lane}")

    def stop(self, lanes: int) -> None:
        """Stop cleanly and start again, as pipeline.job does it."""
        for lane in list(self.flights):
            self.arrive(lane)
        outcomes = [ended(self.outbox.stop(), Status.PENDING)]
        self.store.settle(pa.concat_tables([self.outbox.reported(), *outcomes]), self.clock())
        self.model.decide(self.reported)
        self.model.all_put_back()
        self.crash(lanes)

    def tick(self, at_point: Callable[[Point], None], unread: int = 0, twice: bool = False) -> bool:
        """Handle the planned batch, or plan one; tell whether the job survived it."""
        if self.batch is None:
            self._plan(unread)
        batch, self.at_point = self.batch, self._knowing(at_point)
        try:
            for _ in range(1 + twice):
                self.ticker(batch.lines, batch.number)
        except Crash:
            return False
        finally:
            self.at_point = lambda point: None
        self.kept.settle_down(self.store)
        self.batch = None
        self.number += 1
        return True

    def depart(self, lane: int) -> None:
        """Let a lane begin a transaction with what is due."""
        held = self.outbox._workers[lane].lane
        flush = held.release(self.clock())
        if flush is not None:
            self.flights[lane] = flush
            for item in flush.items:
                self.model.leaves(name_of(item), at(self.highest))

    def arrive(self, lane: int, fate: str = "well") -> bool:
        """End the transaction of a lane; tell whether the job survived it."""
        flush, worker = self.flights.pop(lane), self.outbox._workers[lane]
        worker._publisher.fate, before = fate, len(self.kafka.notes)
        try:
            worker._publish(flush)
        except Crash:
            if fate == "before":
                self._never_left(flush)
            return False
        worker._publisher.fate = "well"
        self.reported += [note[:3] for note in self.kafka.notes[before:]]
        return True

    def look_out(self) -> None:
        """See the records that no batch has read yet."""
        unread = zip(self.kafka.source, self.taken, strict=True)
        lines = [record.line for log, taken in unread for record in log[taken:]]
        self.outbox.saw((line["identity"], line["hash"], version_of(line)) for line in lines)

    def release(self) -> None:
        """Let every lane publish what is due."""
        for lane in range(self.lanes):
            if lane not in self.flights:
                self.depart(lane)
            if lane in self.flights:
                self.arrive(lane)

    def unread(self) -> bool:
        """Tell whether a record or a note has not been taken yet."""
        read = [*self.taken, self.noted], self.batch
        return read != ([*map(len, self.kafka.source), len(self.kafka.notes)], None)

    def close(self) -> None:
        self.kept.close(self.store)
        self.patches.close()

    def _plan(self, unread: int) -> None:
        records = []
        for partition, log in enumerate(self.kafka.source):
            upto = max(self.taken[partition], len(log) - (unread if partition == 0 else 0))
            records += log[self.taken[partition] : upto]
            self.taken[partition] = upto
        notes, self.noted = self.kafka.notes[self.noted :], len(self.kafka.notes)
        self.batch = Batch(self.number, self.clock(), records, notes)

    def _knowing(self, at_point: Callable[[Point], None]) -> Callable[[Point], None]:
        """Tell the model of a commit, then do what the test wants done at this point."""

        def reached(point: Point) -> None:
            if point is Point.AFTER_COMMIT and self.batch is not None:
                decisions = [d for d in self.reported if d[:2] in self.told]
                self.reported = [d for d in self.reported if d[:2] not in self.told]
                decisions += [note[:3] for note in self.batch.notes]
                self.model.take(self.batch.by_key(), decisions, self._is_stale)
            at_point(point)

        return reached

    def _listening(self, reported: Callable[..., pa.Table]) -> Callable[..., pa.Table]:
        """Note which decisions are told: a batch may leave some to the next ones."""

        def heard(most: int | None = None) -> pa.Table:
            table = reported(most)
            names = zip(*(table.column(name).to_pylist() for name in _NAMED), strict=True)
            attempts = table.column("attempt").to_pylist()
            self.told = {(name, n) for name, n in zip(names, attempts, strict=True) if n}
            return table

        return heard

    def _is_stale(self, name: tuple[int, int]) -> bool:
        """Ask the store: it may have forgotten a newer command whose version is closed."""
        rows = self.kept.rows(self.store)
        found = [r for r in rows if (r["source_partition"], r["source_offset"]) == name]
        return found[0]["status"] == Status.REPLACED

    def _never_left(self, flush: Flush) -> None:
        for item in flush.items:
            self.model.never_left(name_of(item))

    @staticmethod
    def _only_during_recovery(act: Callable[[Point], None]) -> Callable[[Point], None]:
        return lambda point: act(point) if point is Point.DURING_RECOVERY else None


def version_of(line: dict[str, Any]) -> Version:
    named = ("source_topic", "source_partition", "source_offset", "source_timestamp")
    return Version(*(line[name] for name in named))
