"""The marker of a lane: what is out, as one consumer-group offset written in the same transaction.

The marker says: *all claims of batches up to ``batch`` with due up to ``watermark`` are out*. Both
only grow. It lives on partition ``lane`` of the internal topic as offset and metadata of a consumer
group that never has members, so a Kafka transaction can carry it.
"""

from typing import NamedTuple, Self

from confluent_kafka import TopicPartition

from state.errors import KafkaError


class Marker(NamedTuple):
    """How far a lane has come, and how many lanes there were when it was written."""

    batch: int
    watermark: int
    lanes: int

    def covers(self, claim: int, due: int) -> bool:
        """Tell whether a row claimed by batch ``claim`` for ``due`` is out."""
        return claim <= self.batch and due <= self.watermark

    def at(self, topic: str, lane: int) -> TopicPartition:
        """Return it as the offset to commit: the batch plus one, for no offset is below zero."""
        return TopicPartition(topic, lane, self.batch + 1, f"{self.watermark}/{self.lanes}")

    @classmethod
    def of(cls, committed: TopicPartition) -> Self | None:
        """Read a marker back; None where the lane has none."""
        if committed.offset < 0:
            return None
        try:
            watermark, lanes = (committed.metadata or "").split("/")
            return cls(committed.offset - 1, int(watermark), int(lanes))
        except ValueError as error:
            raise KafkaError(
                f"the marker of lane {committed.partition} on {committed.topic} holds "
                f"{committed.metadata!r}, which this version cannot read; "
                "start the version that wrote it, or reset the group's offsets"
            ) from error


NOTHING_OUT = -1  # the watermark and the batch of a lane that has not published yet
