"""One Kafka producer and what it has heard about the records it sent."""

from functools import partial

from confluent_kafka import KafkaError as Code
from confluent_kafka import KafkaException, Message, Producer

from pipeline.outbox.publisher import Receipt
from pipeline.outbox.records import Record

SIDE = -1  # the number of records that belong to no message: dead letters, notes
_POLL = 0.05  # seconds to wait for room when the producer's queue is full


class Session:
    """Sends records and keeps, by the number the caller gave each, its receipt or its error."""

    def __init__(self, producer: Producer) -> None:
        self.producer = producer
        self.receipts: dict[int, Receipt] = {}
        self.errors: dict[int, Code] = {}

    def clear(self) -> None:
        """Forget what was heard so far."""
        self.receipts, self.errors = {}, {}

    def send(self, number: int, record: Record) -> None:
        """Queue one record; an error about it is kept, not raised."""
        while True:
            try:
                self.producer.produce(
                    record.topic,
                    value=record.value,
                    key=record.key,
                    partition=record.partition,
                    headers=record.headers,
                    on_delivery=partial(self._delivered, number),
                )
                return
            except BufferError:
                self.producer.poll(_POLL)
            except KafkaException as error:
                self.errors[number] = error.args[0]
                return

    def _delivered(self, number: int, error: Code | None, message: Message) -> None:
        if error is None:
            self.receipts[number] = (message.partition(), message.offset())
        else:
            self.errors[number] = error
