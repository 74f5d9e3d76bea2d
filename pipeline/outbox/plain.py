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
from pipeline.outbox.refusal import Refusal, is_too_large
from pipeline.outbox.retry import RetryRules
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
        self._producer = Producer({**connection.plain(), "enable.idempotence": True})

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
        self._tell(flush, refused)
        return Published(now_micros(), [receipts.get(i) for i in range(len(flush.items))], refused)

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
        time.sleep(_WAIT)

    def _stop_if_told(self, error: KafkaException) -> None:
        if self._stopping():
            raise KafkaError(
                f"stopped while Kafka could not be reached: {error.args[0].str()}; what waits is "
                "in the state and goes out at the next start"
            ) from error

    def _tell(self, flush: Flush, refused: dict[int, Refusal]) -> None:
        """Write dead letters and notes; where a dead letter is too large, without its value."""
        errors = self._send_decisions(flush, refused, whole=True)
        if any(is_too_large(error) for error in errors.values()):
            errors = self._send_decisions(flush, refused, whole=False)
        if errors:
            raise KafkaError(self._shape.takes_no_records(errors[SIDE].str()))

    def _send_decisions(
        self, flush: Flush, refused: dict[int, Refusal], *, whole: bool
    ) -> dict[int, Code]:
        session, at = Session(self._producer), now_micros()
        for number, refusal in refused.items():
            item = flush.items[number]
            decision = self._retry.decide(item, refusal, at)
            for record in self._shape.refused(item, decision, self._lane, whole=whole):
                session.send(SIDE, record)
        self._producer.flush()
        return session.errors
