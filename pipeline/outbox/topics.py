"""Knows which output topics exist and how many partitions they have, asking Kafka when in doubt."""

import sys
import threading
import time
from typing import NamedTuple

from confluent_kafka import KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    ConfigResource,
    ResourceType,
)

from pipeline.outbox.item import Item
from pipeline.outbox.refusal import Refusal
from pipeline.quiet import Options
from pipeline.reasons import Reason

_ASK_AGAIN_AFTER = 1.0  # seconds; a topic may be created at any time
_TIMEOUT = 10.0


class Limits(NamedTuple):
    """What a topic takes."""

    topic: str
    partitions: int | None  # None: there is no such topic
    largest: int


class Topics:
    """The cluster's topics as last seen; shared by all lanes."""

    def __init__(self, options: Options) -> None:
        self._admin = AdminClient(options)
        self._lock = threading.Lock()
        self._partitions: dict[str, int] = {}
        self._largest: dict[str, int] = {}
        self._asked = 0.0

    def partitions(self, topic: str) -> int | None:
        """Return the number of partitions of ``topic``, None if there is no such topic.

        All topics are listed: asking for one by name may create it on brokers that create topics
        automatically.
        """
        with self._lock:
            if topic not in self._partitions and self._may_ask():
                listed = self._admin.list_topics(timeout=_TIMEOUT).topics
                self._partitions = {name: len(known.partitions) for name, known in listed.items()}
                self._asked = time.monotonic()
            return self._partitions.get(topic)

    def refused(self, items: list[Item]) -> dict[int, Refusal]:
        """Return, by place, the items that their topic cannot take."""
        limits = {
            topic: self._limits(topic) for topic in {item.chunk.topic[item.index] for item in items}
        }
        found = (
            (number, _refusal(item, limits[item.chunk.topic[item.index]]))
            for number, item in enumerate(items)
        )
        return {number: refusal for number, refusal in found if refusal is not None}

    def _limits(self, topic: str) -> Limits:
        count = self.partitions(topic)
        return Limits(topic, count, self.largest(topic) if count else 0)

    def largest(self, topic: str) -> int:
        """Return how large a record of ``topic`` may be, as far as this job may know it."""
        with self._lock:
            if topic not in self._largest:
                self._largest[topic] = self._ask_largest(topic)
            return self._largest[topic]

    def _ask_largest(self, topic: str) -> int:
        resource = ConfigResource(ResourceType.TOPIC, topic)
        try:
            answer = self._admin.describe_configs([resource])[resource].result(_TIMEOUT)
        except KafkaException:  # not allowed to ask: then the broker will say it of each record
            return sys.maxsize
        return int(answer["max.message.bytes"].value)

    def _may_ask(self) -> bool:
        return not self._asked or time.monotonic() - self._asked > _ASK_AGAIN_AFTER


def _refusal(item: Item, limits: Limits) -> Refusal | None:
    topic, partition = limits.topic, item.chunk.to_partition[item.index]
    if limits.partitions is None:
        return Refusal(Reason.UNKNOWN_TOPIC, f"topic {topic} does not exist; create it")
    if partition is not None and partition >= limits.partitions:
        return Refusal(
            Reason.UNKNOWN_PARTITION,
            f"topic {topic} has {limits.partitions} partitions, none with number {partition}",
        )
    if item.size > limits.largest:
        return Refusal(
            Reason.TOO_LARGE_FOR_TOPIC,
            f"topic {topic} takes records of {limits.largest} bytes (max.message.bytes), "
            f"this one has {item.size}",
        )
    return None
