"""Reads topics from their beginning to the end they had at the start, committed records only."""

import time
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Self

from confluent_kafka import Consumer, IsolationLevel, KafkaException, TopicPartition
from confluent_kafka import KafkaError as Code
from confluent_kafka import admin as kafka_admin

from pipeline.config.kafka import librdkafka_options
from pipeline.config.kafka_block import KafkaSettings
from pipeline.granted import refuse_hidden
from pipeline.login import connect
from state.errors import KafkaError

Partition = tuple[str, int]

_ADMIN: Any = kafka_admin  # its types do not know OffsetSpec

_TIMEOUT = 15.0
_AT_ONCE = 500
_PATIENCE = 90.0  # seconds without a step forward; longer than a job's transaction stays open
# What librdkafka logs by itself would only repeat the sentences told below.
_QUIET: dict[str, Any] = {"log_level": 0, "error_cb": lambda _: None}
_READING = {
    "group.id": "duestream-audit",  # required, and never joined
    "isolation.level": "read_committed",
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "earliest",
}


class TopicReader:
    """Reads each of ``topics`` once; use it as a context manager. Topics not there are left out."""

    def __init__(
        self, kafka: KafkaSettings, topics: list[str], patience: float = _PATIENCE
    ) -> None:
        self._patience = patience
        self._admin: Any
        self._admin, known = connect(kafka, _TIMEOUT)
        refuse_hidden(self._admin, kafka, [topic for topic in topics if topic not in known])
        self._consumer = Consumer(librdkafka_options(kafka) | _READING | _QUIET)
        self._partitions = [(t, n) for t in topics if t in known for n in known[t].partitions]
        self._ends = self._offsets(_ADMIN.OffsetSpec.latest())
        self._starts = self.lowest()

    @property
    def total(self) -> int:
        """How many offsets lie between the beginnings and the ends."""
        return sum(max(0, end - self._starts[at]) for at, end in self._ends.items())

    def lowest(self) -> Mapping[Partition, int]:
        """Return the first offset that each partition still has."""
        return self._offsets(_ADMIN.OffsetSpec.earliest())

    def messages(self) -> Iterator[Any]:
        """Yield the records of all partitions up to their ends."""
        open_ends = {at: end for at, end in self._ends.items() if end > self._starts[at]}
        self._consumer.assign([TopicPartition(*at, self._starts[at]) for at in open_ends])
        moved = time.monotonic()
        while open_ends:
            batch = self._consumer.consume(_AT_ONCE, 1.0)
            if batch:
                moved = time.monotonic()
            elif time.monotonic() - moved > self._patience:
                raise KafkaError(_stuck(open_ends))
            yield from self._taken(batch, open_ends)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._consumer.close()

    def _taken(self, batch: list[Any], open_ends: dict[Partition, int]) -> Iterator[Any]:
        for message in batch:
            at, failure = (message.topic(), message.partition()), message.error()
            if failure is not None and failure.code() != Code._PARTITION_EOF:
                raise KafkaError(f"{at[0]}: cannot be read: {failure.str()}")
            end = open_ends.get(at)
            if end is None:
                continue
            if failure is None and message.offset() < end:
                yield message
            # The last offsets may be a transaction's own marks: only the end of the partition,
            # which is told with the next offset, says that they are passed.
            if message.offset() >= (end if failure else end - 1):
                del open_ends[at]
                self._consumer.pause([TopicPartition(*at)])

    def _offsets(self, which: Any) -> dict[Partition, int]:
        if not self._partitions:
            return {}
        # Uncommitted: a record behind a transaction that is still open may have its receipt.
        answers = self._admin.list_offsets(
            {TopicPartition(*at): which for at in self._partitions},
            isolation_level=IsolationLevel.READ_UNCOMMITTED,
            request_timeout=_TIMEOUT,
        )
        try:
            return {(p.topic, p.partition): a.result().offset for p, a in answers.items()}
        except KafkaException as error:
            raise KafkaError(f"the offsets of the topics: {error.args[0].str()}") from error


def _stuck(open_ends: dict[Partition, int]) -> str:
    (topic, partition), end = next(iter(open_ends.items()))
    return (
        f"{topic}, partition {partition}: cannot be read up to offset {end}; a transaction may be "
        "open there, so try again later"
    )
