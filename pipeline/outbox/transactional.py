"""Publishes a flush as one Kafka transaction with the marker inside: all of it is out, or nothing.

Whatever can be doubted is settled by the marker: after a timeout or an unclear error the producer
is thrown away, a new one fences it, and the marker it finds says whether the flush is out.
"""

import logging
import time
from collections.abc import Callable, Sequence

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka import KafkaError as Code

from pipeline.clock import now_micros
from pipeline.outbox.blame import at_fault, doubtful
from pipeline.outbox.connection import Connection
from pipeline.outbox.lane import Flush
from pipeline.outbox.marker import Marker
from pipeline.outbox.publisher import Published
from pipeline.outbox.records import Shape
from pipeline.outbox.refusal import Refusal
from pipeline.outbox.session import SIDE, Session
from pipeline.outbox.topics import Topics
from state.errors import KafkaError

log = logging.getLogger(__name__)

_FENCED = frozenset({Code._FENCED, Code.PRODUCER_FENCED, Code.INVALID_PRODUCER_EPOCH})
_LONGEST_WAIT = 10.0


class TransactionalPublisher:
    """Publishes one lane; its transactional id keeps any earlier holder of the lane out."""

    def __init__(
        self,
        lane: int,
        connection: Connection,
        shape: Shape,
        topics: Topics,
        stopping: Callable[[], bool],
    ) -> None:
        self._lane = lane
        self._connection = connection
        self._timeout = connection.timeout
        self._shape = shape
        self._topics = topics
        self._stopping = stopping
        self._reader = Consumer(connection.markers())  # never subscribes
        self._session: Session | None = None

    def open(self) -> Marker | None:
        """Fence whoever held the lane, settle its open transaction and read the marker."""
        self._session = None  # the old producer goes before the new one comes
        producer = Producer(self._connection.transactional(self._lane))
        producer.init_transactions(self._timeout)
        self._session = Session(producer)
        place = TopicPartition(self._shape.internal_topic, self._lane)
        return Marker.of(self._reader.committed([place], timeout=self._timeout)[0])

    def publish(self, flush: Flush) -> Published:
        """Publish, whatever it takes; a message Kafka will not have becomes a dead letter."""
        refused = self._topics.refused(flush.items)
        wait = 0.1
        while True:
            try:
                return self._attempt(flush, refused)
            except KafkaException as error:
                log.warning("lane %d cannot publish yet: %s", self._lane, error.args[0])
                self._stop_if_told(error)
            time.sleep(wait)
            wait = min(wait * 2, _LONGEST_WAIT)
            if self._is_out(flush.marker):
                return Published(now_micros(), [None] * len(flush.items), refused)

    def close(self) -> None:
        """Let go of the broker."""
        self._session = None
        self._reader.close()

    def _attempt(self, flush: Flush, refused: dict[int, Refusal]) -> Published:
        alone: frozenset[int] = frozenset()  # refused in company only: each gets its own batch
        while True:
            session = self._begin()
            self._send_all(session, flush, refused, alone)
            try:
                if not session.errors:
                    self._commit(session, flush.marker)
                    receipts = [session.receipts.get(i) for i in range(len(flush.items))]
                    return Published(now_micros(), receipts, refused)
            except KafkaException as error:
                if not session.errors or not error.args[0].txn_requires_abort():
                    raise
            errors = dict(session.errors)
            session.producer.abort_transaction(self._timeout)
            found = self._blame(flush, errors)
            refused.update(found)
            alone |= frozenset(errors) - frozenset(found)

    def _send_all(
        self, session: Session, flush: Flush, refused: dict[int, Refusal], alone: frozenset[int]
    ) -> None:
        at = now_micros()
        for number, item in enumerate(flush.items):
            if number in refused:
                session.send(SIDE, self._shape.dead_letter(item, refused[number]))
                session.send(SIDE, self._shape.note(item, refused[number], self._lane, at))
            elif number in alone:
                session.producer.flush(self._timeout)
                session.send(number, self._shape.message(item))
                session.producer.flush(self._timeout)
            else:
                session.send(number, self._shape.message(item))

    def _commit(self, session: Session, marker: Marker) -> None:
        place = marker.at(self._shape.internal_topic, self._lane)
        group = self._reader.consumer_group_metadata()
        session.producer.send_offsets_to_transaction([place], group, self._timeout)
        session.producer.commit_transaction(self._timeout)

    def _blame(self, flush: Flush, errors: dict[int, Code]) -> dict[int, Refusal]:
        if SIDE in errors:
            raise KafkaError(
                f"the dead-letter topic {self._shape.dead_letter_topic} or the internal topic "
                f"{self._shape.internal_topic} takes no records: {errors[SIDE].str()}; "
                "check that both exist, that this job may write there and their max.message.bytes"
            )
        numbers = doubtful(flush, errors)
        if not numbers:
            raise KafkaException(next(iter(errors.values())))
        return at_fault(flush, numbers, lambda some: self._probe(flush, some))

    def _probe(self, flush: Flush, numbers: Sequence[int]) -> dict[int, Code]:
        session = self._begin()
        for number in numbers:
            session.send(number, self._shape.message(flush.items[number]))
        session.producer.flush(self._timeout)
        errors = dict(session.errors)
        session.producer.abort_transaction(self._timeout)
        return errors

    def _begin(self) -> Session:
        session = self._live()
        session.clear()
        session.producer.begin_transaction()
        return session

    def _is_out(self, marker: Marker) -> bool:
        """Start over with a new producer and ask the marker whether the flush went out."""
        while True:
            try:
                return self.open() == marker
            except KafkaException as error:
                self._stop_if_told(error)
                time.sleep(1.0)

    def _stop_if_told(self, error: KafkaException) -> None:
        if error.args[0].code() in _FENCED:
            raise KafkaError(
                "another job has taken over this state's lanes; this one stops so that nothing "
                "is published twice. Run one job per state"
            ) from error
        if self._stopping():
            raise KafkaError(
                f"stopped while Kafka could not be reached: {error.args[0].str()}; what waits is "
                "in the state and goes out at the next start"
            ) from error

    def _live(self) -> Session:
        if self._session is None:
            raise RuntimeError("publish before open")
        return self._session
