"""Knows which output topics exist and how many partitions they have, asking Kafka when in doubt."""

import sys
import threading
from typing import NamedTuple

from confluent_kafka import KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    ConfigResource,
    ResourceType,
)

from pipeline.clock import now_micros
from pipeline.outbox.item import Item
from pipeline.outbox.lane import Flush
from pipeline.outbox.records import Shape
from pipeline.outbox.refusal import Refusal
from pipeline.quiet import Options
from pipeline.reasons import Reason
from state.errors import KafkaError

_TIMEOUT = 10.0
_SOON = 3.0


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
        self._limits: dict[str, Limits] = {}

    def refused(self, flush: Flush, shape: Shape, anew: bool = False) -> dict[int, Refusal]:
        """Return, by place, the messages that their topic cannot take in the shape they will have.

        What was seen may be old: nothing is refused before Kafka was asked again, and with ``anew``
        nothing is let pass either.
        """
        wanted = {item.chunk.topic[item.index] for item in flush.items}
        with self._lock:
            missing = wanted if anew else wanted - self._limits.keys()
            if missing:
                self._look_up(missing)
            found = self._check(flush, wanted, shape)
            if found:
                self._look_up(wanted)
                found = self._check(flush, wanted, shape)
        return found

    def reach(self) -> None:
        """Raise KafkaError, with the reason, unless Kafka answers; from any thread."""
        try:
            self._admin.list_topics(timeout=_SOON)
        except KafkaException as error:
            raise KafkaError(error.args[0].str()) from error

    def _check(self, flush: Flush, wanted: set[str], shape: Shape) -> dict[int, Refusal]:
        if self._all_fit(flush, wanted, shape):
            return {}
        now = now_micros()
        found = (
            (number, _refusal(item, self._limits[item.chunk.topic[item.index]], shape, now))
            for number, item in enumerate(flush.items)
        )
        return {number: refusal for number, refusal in found if refusal is not None}

    def _all_fit(self, flush: Flush, wanted: set[str], shape: Shape) -> bool:
        """Tell whether nothing can be refused, from what is known of all together."""
        limits = [self._limits[topic] for topic in wanted]
        largest = max((chunk.largest for chunk in flush.chunks), default=0)
        return not any(chunk.names_partitions for chunk in flush.chunks) and all(
            limit.partitions is not None and shape.at_most(limit.topic, largest) <= limit.largest
            for limit in limits
        )

    def _look_up(self, wanted: set[str]) -> None:
        """Ask for all topics: to ask for one by name may create it, where brokers do that."""
        listed = self._admin.list_topics(timeout=_TIMEOUT).topics
        for topic in wanted:
            count = (len(listed[topic].partitions) if topic in listed else 0) or None
            self._limits[topic] = Limits(topic, count, self._largest(topic) if count else 0)

    def _largest(self, topic: str) -> int:
        resource = ConfigResource(ResourceType.TOPIC, topic)
        try:
            answer = self._admin.describe_configs([resource])[resource].result(_TIMEOUT)
        except (
            KafkaException,
            TimeoutError,
        ):  # then the broker says it of each record
            return sys.maxsize
        return int(answer["max.message.bytes"].value)


def _refusal(item: Item, limits: Limits, shape: Shape, now: int) -> Refusal | None:
    topic, partition = limits.topic, item.chunk.to_partition[item.index]
    if limits.partitions is None:
        return Refusal(
            Reason.UNKNOWN_TOPIC,
            f"topic {topic} does not exist; create it, or allow this job to write to it: a topic "
            "it may not see looks the same",
        )
    if partition >= limits.partitions:
        return Refusal(
            Reason.UNKNOWN_PARTITION,
            f"topic {topic} has {limits.partitions} partitions, none with number {partition}",
        )
    size = shape.message(item, now).size
    if size > limits.largest:
        return Refusal(
            Reason.TOO_LARGE_FOR_TOPIC,
            f"topic {topic} takes records of {limits.largest} bytes (max.message.bytes), "
            f"this one has {size}",
        )
    return None
