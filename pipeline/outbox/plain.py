"""Publishes a flush without transactions, for brokers that have none: at least once.

There is no marker, so after a crash everything that was claimed and not settled goes out again,
with the same fire id.
"""

import logging
import time
from collections.abc import Callable

from confluent_kafka import KafkaError as Code
from confluent_kafka import KafkaException, Producer

from pipeline.clock import now_micros
from pipeline.outbox.blame import refusal_in
from pipeline.outbox.connection import Connection
from pipeline.outbox.lane import Flush
from pipeline.outbox.marker import Marker
from pipeline.outbox.publisher import Published, Receipt
from pipeline.outbox.records import Shape
from pipeline.outbox.refusal import Refusal, is_of_a_row, is_too_large
from pipeline.outbox.retry import Decision, RetryRules
from pipeline.outbox.session import SIDE, Session
from pipeline.outbox.topics import Topics
from pipeline.outbox.waiting import when_reached
from state.errors import KafkaError

log = logging.getLogger(__name__)

_WAIT = 0.5  # seconds between attempts


class PlainPublisher:
    """Publishes one lane with an idempotent producer."""

    def __init__(
        self,
        lane: int,
        connection: Connection,
        shape: Shape,
        topics: Topics,
        retry: RetryRules,
        stopping: Callable[[], bool],
    ) -> None:
        self._lane = lane
        self._timeout = connection.timeout
        self._shape = shape
        self._topics = topics
        self._retry = retry
        self._stopping = stopping
        self._options = {**connection.plain(), "enable.idempotence": True}
        self._producer = Producer(self._options)

    def open(self) -> Marker | None:
        """Answer that nothing is known to be out."""
        return None

    def publish(self, flush: Flush) -> Published:
        """Send until every message is out or refused; what fails is sent again, alone."""
        refused = when_reached(lambda: self._topics.refused(flush.items), self._stop_if_told)
        receipts: dict[int, Receipt] = {}
        errors = self._send(
            flush, [i for i in range(len(flush.items)) if i not in refused], receipts
        )
        while errors:
            self._wait(errors)
            errors = self._send_alone(flush, list(errors), receipts, refused)
        at = now_micros()
        decided = {
            number: self._retry.decide(flush.items[number], refusal, at)
            for number, refusal in refused.items()
        }
        self._tell(flush, decided)
        return Published(now_micros(), [receipts.get(i) for i in range(len(flush.items))], decided)

    def close(self) -> None:
        """Send what is still queued."""
        self._producer.flush(self._timeout)

    def _send(
        self, flush: Flush, numbers: list[int], receipts: dict[int, Receipt]
    ) -> dict[int, Code]:
        session = Session(self._producer)
        for number in numbers:
            session.send(number, self._shape.message(flush.items[number]))
        self._producer.flush()
        receipts.update(session.receipts)
        return session.errors

    def _send_alone(
        self,
        flush: Flush,
        numbers: list[int],
        receipts: dict[int, Receipt],
        refused: dict[int, Refusal],
    ) -> dict[int, Code]:
        left: dict[int, Code] = {}
        for number in numbers:
            errors = self._send(flush, [number], receipts)
            refusal = refusal_in(flush, number, errors)
            if refusal is not None:
                refused[number] = refusal
            else:
                left.update(errors)
        return left

    def _wait(self, errors: dict[int, Code]) -> None:
        error = next(iter(errors.values())).str()
        log.warning("lane %d cannot publish yet: %s", self._lane, error)
        self._stop_if_told(KafkaException(next(iter(errors.values()))))
        if any(error.fatal() for error in errors.values()):  # this producer sends nothing any more
            self._producer = Producer(self._options)
        time.sleep(_WAIT)

    def _stop_if_told(self, error: KafkaException) -> None:
        if self._stopping():
            raise KafkaError(
                f"stopped while Kafka could not be reached: {error.args[0].str()}; what waits is "
                "in the state and goes out at the next start"
            ) from error

    def _tell(self, flush: Flush, decided: dict[int, Decision]) -> None:
        """Write dead letters and notes; where a dead letter is too large, without its value."""
        whole = True
        while errors := self._send_decisions(flush, decided, whole=whole):
            if whole and any(is_too_large(error) for error in errors.values()):
                whole = False
            elif is_of_a_row(errors[SIDE]):
                raise KafkaError(self._shape.takes_no_records(errors[SIDE].str()))
            else:
                self._wait(errors)

    def _send_decisions(
        self, flush: Flush, decided: dict[int, Decision], *, whole: bool
    ) -> dict[int, Code]:
        session = Session(self._producer)
        for number, decision in decided.items():
            item = flush.items[number]
            for record in self._shape.refused(item, decision, self._lane, whole=whole):
                session.send(SIDE, record)
        self._producer.flush()
        return session.errors
