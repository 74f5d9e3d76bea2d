"""Reads topics from some time ago on, and goes on with what comes; nothing is ever committed."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka import KafkaError as Code
from confluent_kafka import admin as kafka_admin

from pipeline.config.kafka import librdkafka_options
from pipeline.config.kafka_block import KafkaSettings
from pipeline.login import connect
from pipeline.quiet import quiet
from state.errors import KafkaError

log = logging.getLogger(__name__)

_ADMIN: Any = kafka_admin  # its types do not know OffsetSpec
Take = Callable[[Any], None]
Partition = tuple[str, int]

_AT_ONCE = 1_000
_POLL = 0.2  # seconds
_LOOK_AGAIN = 30.0  # seconds, after which a topic may have more partitions
_TIMEOUT = 10.0
_READING: dict[str, Any] = {
    "group.id": "duestream.channels",  # required, and never joined
    "isolation.level": "read_committed",
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "earliest",
}


class Follower:
    """Hands each record of ``topics`` to its function, in a thread of its own, until ``close``.

    ``since`` says from which time on (milliseconds) a topic is read, else from the beginning.
    """

    def __init__(
        self, kafka: KafkaSettings, topics: Mapping[str, Take], since: Mapping[str, int]
    ) -> None:
        self._topics = topics
        self._since = since
        self._moved = threading.Condition()
        self._reached: dict[Partition, int | None] = {}  # None: not at any end yet
        self._closing = threading.Event()
        self._admin: Any = connect(kafka, _TIMEOUT)[0]
        self._consumer: Any = Consumer(quiet(librdkafka_options(kafka)) | _READING)
        self._assign()
        self._thread = threading.Thread(target=self._run, name="channels", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop reading."""
        self._closing.set()
        self._thread.join()

    def require_caught_up(self) -> None:
        """Wait until everything that was there at the start is read; KafkaError after a while."""
        with self._moved:
            if not self._moved.wait_for(self._is_caught_up, _TIMEOUT):
                raise KafkaError("the channels are still being read from Kafka; try again")

    def follow_up(self, topic: str) -> None:
        """Wait until all is read that is on a topic now (no transactions are written to)."""
        latest = _ADMIN.OffsetSpec.latest()
        ends = {at: self._offset(at, latest) for at in list(self._reached) if at[0] == topic}
        with self._moved:
            if not self._moved.wait_for(lambda: self._is_at(ends), _TIMEOUT):
                raise KafkaError(f"the topic {topic} cannot be read to its end; try again")

    def _is_caught_up(self) -> bool:
        return None not in self._reached.values()

    def _is_at(self, ends: dict[Partition, int]) -> bool:
        return all((self._reached[at] or 0) >= end for at, end in ends.items())

    def _assign(self) -> None:
        """Begin to read partitions that are not read yet."""
        try:
            listed = self._admin.list_topics(timeout=_TIMEOUT).topics
        except KafkaException as error:
            raise KafkaError(f"the topics cannot be listed: {error.args[0].str()}") from error
        found = [(t, n) for t in self._topics if t in listed for n in listed[t].partitions]
        new = [at for at in found if at not in self._reached]
        starts = [TopicPartition(*at, self._start(at)) for at in new]
        with self._moved:
            self._reached |= dict.fromkeys(new)
        if starts:
            self._consumer.incremental_assign(starts)

    def _start(self, at: Partition) -> int:
        since = self._since.get(at[0])
        if since is None:
            return self._offset(at, _ADMIN.OffsetSpec.earliest())
        end = self._offset(at, _ADMIN.OffsetSpec.latest())
        found = self._offset(at, _ADMIN.OffsetSpec.for_timestamp(since))
        return end if found < 0 else found

    def _offset(self, at: Partition, which: Any) -> int:
        # Not by the consumer: asked from two threads at a time it does not answer at all.
        asked = {TopicPartition(*at): which}
        try:
            answers = self._admin.list_offsets(asked, request_timeout=_TIMEOUT)
            offset: int = next(iter(answers.values())).result(_TIMEOUT).offset
        except KafkaException as error:
            raise KafkaError(f"{at[0]}: cannot be read: {error.args[0].str()}") from error
        except TimeoutError as error:
            raise KafkaError(f"{at[0]}: cannot be read: Kafka does not answer") from error
        return offset

    def _run(self) -> None:
        looked = time.monotonic()
        while not self._closing.is_set():
            self._read()
            if time.monotonic() - looked > _LOOK_AGAIN:
                looked = time.monotonic()
                try:
                    self._assign()
                except KafkaError as error:
                    log.debug("the topics of the channels cannot be looked at: %s", error)
        self._consumer.close()

    def _read(self) -> None:
        # A call for many waits until it has so many, or for its whole time: so first for one.
        first = self._consumer.poll(_POLL)
        batch = [] if first is None else [first, *self._consumer.consume(_AT_ONCE, 0)]
        for message in batch:
            failure = message.error()
            if failure is None:
                self._take(message)
            elif failure.code() != Code._PARTITION_EOF:
                log.warning("the channels cannot be read: %s", failure.str())
        with self._moved:
            for message in batch:
                self._note(message)
            self._moved.notify_all()

    def _take(self, message: Any) -> None:
        try:
            self._topics[message.topic()](message)
        except Exception as error:  # one bad record must not end all channels
            place = f"{message.topic()}, partition {message.partition()}, {message.offset()}"
            log.warning("a record was passed over (%s): %s", place, error)

    def _note(self, message: Any) -> None:
        at, failure = (message.topic(), message.partition()), message.error()
        if failure is None:
            if self._reached[at] is not None:
                self._reached[at] = message.offset() + 1
        elif failure.code() == Code._PARTITION_EOF:
            self._reached[at] = message.offset()
