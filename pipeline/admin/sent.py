"""Names a record that was sent: where Kafka put it, and under which key."""

from dataclasses import dataclass

from pipeline.client import Receipt
from pipeline.commands import version_text
from state.errors import KafkaError


@dataclass(frozen=True, slots=True)
class Sent:
    """The place of a record on its input topic; ``what`` it was: schedule, cancel, ..."""

    what: str
    source: str
    partition: int
    offset: int
    key: bytes

    @staticmethod
    def of(what: str, receipt: Receipt) -> "Sent":
        """Return what a receipt says."""
        if receipt.partition is None or receipt.offset is None or receipt.offset < 0:
            raise KafkaError("kafka: the broker did not say where it put the record; ask again")
        return Sent(what, receipt.topic, receipt.partition, receipt.offset, receipt.key or b"")

    @property
    def version(self) -> str:
        """What names the message that the record makes, or last moved."""
        return version_text(self.partition, self.offset)
