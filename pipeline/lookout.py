"""Watches the ends of the input topics, so that what was changed a moment ago does not go out.

A record waits for its micro-batch, a second or so. A message of the same key that falls due in
that time would leave although it is replaced or cancelled already. The lookout sees the record
within a tenth of a second, and the outbox holds the message until the batch has spoken.

It decides nothing and nothing depends on it: where it is late, or Kafka does not answer, a change
takes effect as soon as its batch is read.
"""

import logging
import threading
import zlib
from collections.abc import Callable, Iterable, Mapping

from confluent_kafka import (
    OFFSET_END,
    Consumer,
    KafkaException,
    Message,
    TopicPartition,
)

from pipeline.quiet import Options
from state.version import Version

log = logging.getLogger(__name__)

Names = Callable[[Message], bytes | None]
Seen = Iterable[tuple[bytes, int, Version]]  # identity, its hash, the record

_AT_ONCE = 10_000  # records
_POLL = 0.5  # seconds
_LOOK_AGAIN = 60  # polls, after which a topic may have more partitions
_TIMEOUT = 10.0


class Lookout:
    """Tells ``saw`` of every record that comes to the topics, from now on until ``close``.

    ``topics`` says of each topic how to find the identity that a record is about, None if none.
    """

    def __init__(
        self, options: Options, topics: Mapping[str, Names], saw: Callable[[Seen], None]
    ) -> None:
        self._options = {
            **options,
            "group.id": "duestream.lookout",  # never joined: partitions are assigned here
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            # Ten answers a second are quick enough, and cost the broker little under load.
            "fetch.wait.max.ms": 100,
            "fetch.min.bytes": 100_000,
        }
        self._topics = topics
        self._saw = saw
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lookout", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop watching."""
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                self._watch()
            except KafkaException as error:
                log.debug("the lookout begins anew: %s", error.args[0].str())
                self._closing.wait(_POLL)
            except Exception:  # it must never be what ends a job
                log.exception("the lookout has stopped; changes take effect with their batch")
                return

    def _watch(self) -> None:
        consumer = Consumer(self._options)
        try:
            while not self._closing.is_set():
                self._assign(consumer)
                for _ in range(_LOOK_AGAIN):
                    if self._closing.is_set():
                        return
                    self._saw(list(self._records(consumer.consume(_AT_ONCE, _POLL))))
        finally:
            consumer.close()

    def _assign(self, consumer: Consumer) -> None:
        """Watch partitions that are not watched yet, from their ends."""
        listed = consumer.list_topics(timeout=_TIMEOUT).topics
        watched = {(each.topic, each.partition) for each in consumer.assignment()}
        new = [
            TopicPartition(topic, number, OFFSET_END)
            for topic in self._topics
            if topic in listed
            for number in listed[topic].partitions
            if (topic, number) not in watched
        ]
        if new:
            consumer.incremental_assign(new)

    def _records(self, messages: list[Message]) -> Seen:
        for message in messages:
            topic, (_, millis) = message.topic(), message.timestamp()
            if message.error() is None and topic and message.key():
                identity = self._topics[topic](message)
                if identity is not None:
                    place = message.partition() or 0, message.offset() or 0
                    yield identity, zlib.crc32(identity), Version(topic, *place, millis * 1000)
