"""Says what of a topic is looked at: from its beginning to the end it has when this is asked."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from confluent_kafka import IsolationLevel, KafkaException, TopicPartition
from confluent_kafka import admin as kafka_admin

from pipeline.config.kafka import librdkafka_options
from pipeline.config.kafka_block import KafkaSettings
from pipeline.quiet import quiet
from state.admission import Marks
from state.errors import KafkaError

_ADMIN: Any = kafka_admin  # its types do not know OffsetSpec
_TIMEOUT = 30.0


@dataclass(frozen=True, slots=True)
class Span:
    """Of each partition of a topic, the first offset and the one after the last."""

    topic: str
    starts: Mapping[int, int]
    ends: Mapping[int, int]

    @property
    def offsets(self) -> int:
        """How many offsets there are; some may have no record any more."""
        return sum(max(0, end - self.starts[number]) for number, end in self.ends.items())

    @property
    def last(self) -> Marks:
        """The last offset of each partition that has any."""
        return {self.topic: {str(number): end - 1 for number, end in self.ends.items() if end}}

    def for_spark(self) -> dict[str, str]:
        """Return the options of Spark's Kafka source that read exactly this."""
        return {
            "subscribe": self.topic,
            "startingOffsets": _as_json(self.topic, self.starts),
            "endingOffsets": _as_json(self.topic, self.ends),
        }


def require_topic(kafka: KafkaSettings, topic: str) -> None:
    """Refuse a topic that is not there, or a cluster that is away, before Spark is started."""
    Cluster(kafka).span_of(topic)


class Cluster:
    """The topics of a cluster, as they are when it is made."""

    def __init__(self, kafka: KafkaSettings) -> None:
        self._admin = _ADMIN.AdminClient(quiet(librdkafka_options(kafka)))
        try:
            self._topics = self._admin.list_topics(timeout=_TIMEOUT).topics
        except KafkaException as error:
            raise KafkaError(
                f"kafka.bootstrap_servers: no broker answers at {kafka.bootstrap_servers}; is "
                "Kafka running there?"
            ) from error

    def has(self, topic: str) -> bool:
        """Tell whether there is such a topic."""
        return topic in self._topics

    def span_of(self, topic: str) -> Span:
        """Return what there is of ``topic`` now, up to the first transaction that is open."""
        if not self.has(topic):
            raise KafkaError(f"--source: the topic {topic} does not exist; check its name")
        return Span(
            topic,
            self._offsets(topic, _ADMIN.OffsetSpec.earliest()),
            self._offsets(topic, _ADMIN.OffsetSpec.latest()),
        )

    def _offsets(self, topic: str, which: Any) -> dict[int, int]:
        asked = {TopicPartition(topic, n): which for n in self._topics[topic].partitions}
        answers = self._admin.list_offsets(
            asked, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=_TIMEOUT
        )
        try:
            return {place.partition: a.result().offset for place, a in sorted(answers.items())}
        except KafkaException as error:
            raise KafkaError(
                f"--source: Kafka does not tell the offsets of {topic}: {error.args[0].str()}"
            ) from error


def _as_json(topic: str, offsets: Mapping[int, int]) -> str:
    return json.dumps({topic: {str(number): offset for number, offset in offsets.items()}})
