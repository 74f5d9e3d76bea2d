"""A Kafka that fits in memory: records, an output, and per lane a marker and an epoch.

A transaction is one call: messages, notes and marker change together or not at all, and only for
the publisher that opened the lane last.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from build import SECOND, cancel, put
from model import Model, Name

from pipeline.outbox.decision import Decision
from pipeline.outbox.item import Item
from pipeline.outbox.lane import Flush
from pipeline.outbox.marker import Marker
from pipeline.outbox.note import write_note
from pipeline.outbox.publisher import Published
from pipeline.outbox.refusal import Refusal
from pipeline.outbox.retry import RetryRules
from pipeline.reasons import Reason

RETRY = RetryRules(max_attempts=3, max_age=10**15, first_delay=5 * SECOND, longest_delay=9 * SECOND)
_UNKNOWN = Refusal(Reason.UNKNOWN_TOPIC, "topic bad: not there")


class Crash(Exception):
    """The process ends here."""


class Fenced(Exception):
    """Another publisher has opened the lane."""


class Record(NamedTuple):
    line: dict[str, Any]
    is_put: bool

    @property
    def name(self) -> Name:
        return self.line["source_partition"], self.line["source_offset"]

    @property
    def age(self) -> tuple[int, int, int]:
        return (self.line["source_timestamp"], *self.name)

    @property
    def due(self) -> int:
        return self.line["due"]


@dataclass
class SmallKafka:
    model: Model
    clock: Callable[[], int]
    state_id: str = ""
    source: list[list[Record]] = field(default_factory=lambda: [[], []])
    output: list[Name] = field(default_factory=list)
    notes: list[tuple[Name, int, int | None, bytes]] = field(default_factory=list)
    markers: dict[int, Marker] = field(default_factory=dict)
    epochs: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    is_bad: bool = True  # whether it refuses messages for the topic "bad"

    def produce(self, key: bytes, partition: int, stamp: float, due: float | None, topic: str):
        log = self.source[partition]
        at = {"partition": partition, "stamp": stamp}
        if due is None:
            log.append(Record(cancel(key, len(log), **at), False))
        else:
            log.append(Record(put(key, len(log), due, output_topic=topic, **at), True))

    def transact(self, lane: int, epoch: int, flush: Flush) -> Published:
        if epoch != self.epochs[lane]:
            raise Fenced
        dues = [item.due for item in flush.items]
        assert dues == sorted(dues)
        now, receipts, decided = self.clock(), [], {}
        for number, item in enumerate(flush.items):
            if self.is_bad and item.chunk.topic[item.index] == "bad":
                decided[number] = self._refuse(item, now)
            self.output += [] if number in decided else [name_of(item)]
            receipts.append(None if number in decided else (0, len(self.output) - 1))
        self.markers[lane] = flush.marker
        for number, item in enumerate(flush.items):
            if number not in decided:
                self.model.is_out(name_of(item))
        return Published(now, receipts, decided)

    def _refuse(self, item: Item, now: int) -> Decision:
        decision = RETRY.decide(item, _UNKNOWN, now)
        self.model.is_refused(name_of(item), decision.again_at)
        note = write_note(item, decision, self.state_id)
        self.notes.append((name_of(item), len(decision.attempted_at), decision.again_at, note))
        return decision


@dataclass
class SmallPublisher:
    """Keeps the promises of pipeline.outbox.publisher; ``fate`` says how the next one goes."""

    kafka: SmallKafka
    lane: int
    epoch: int = 0
    fate: str = "well"  # "well", "before", "after" (a crash), "unclear" (out, receipts lost)

    def open(self) -> Marker | None:
        self.kafka.epochs[self.lane] += 1
        self.epoch = self.kafka.epochs[self.lane]
        return self.kafka.markers.get(self.lane)

    def publish(self, flush: Flush) -> Published:
        if self.fate == "before":
            raise Crash
        published = self.kafka.transact(self.lane, self.epoch, flush)
        if self.fate == "after":
            raise Crash
        if self.fate == "unclear":
            return Published(published.at, [None] * len(flush.items), published.decided)
        return published

    def close(self) -> None:
        self.epoch = -1


def name_of(item: Item) -> Name:
    return item.version.partition, item.version.offset
