"""Publishes a flush without transactions, for brokers that have none: at least once.

There is no marker, so after a crash everything that was claimed and not settled goes out again,
with the same fire id.
"""

import logging
import time
from collections.abc import Callable

from confluent_kafka import KafkaError as Code
from confluent_kafka import Producer

from pipeline.clock import now_micros
from pipeline.outbox.blame import refusal_in
from pipeline.outbox.connection import Connection
from pipeline.outbox.lane import Flush
from pipeline.outbox.marker import Marker
from pipeline.outbox.publisher import Published, Receipt
from pipeline.outbox.records import Shape
from pipeline.outbox.refusal import Refusal
from pipeline.outbox.session import SIDE, Session
from pipeline.outbox.topics import Topics
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
        stopping: Callable[[], bool],
    ) -> None:
        self._lane = lane
        self._timeout = connection.timeout
        self._shape = shape
        self._topics = topics
        self._stopping = stopping
        self._session = Session(Producer({**connection.plain(), "enable.idempotence": True}))

    def open(self) -> Marker | None:
        """Answer that nothing is known to be out."""
        return None

    def publish(self, flush: Flush) -> Published:
        """Send until every message is out or refused; what fails is sent again, alone."""
        refused = self._topics.refused(flush.items)
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
        self._session.producer.flush(self._timeout)

    def _send(
        self, flush: Flush, numbers: list[int], receipts: dict[int, Receipt]
    ) -> dict[int, Code]:
        self._session.clear()
        for number in numbers:
            self._session.send(number, self._shape.message(flush.items[number]))
        self._session.producer.flush()
        receipts.update(self._session.receipts)
        return self._session.errors

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
        if self._stopping():
            raise KafkaError(
                f"stopped while Kafka could not be reached: {error}; what waits is in the state "
                "and goes out at the next start"
            )
        time.sleep(_WAIT)

    def _tell(self, flush: Flush, refused: dict[int, Refusal]) -> None:
        if not refused:
            return
        self._session.clear()
        at = now_micros()
        for number, refusal in refused.items():
            item = flush.items[number]
            self._session.send(SIDE, self._shape.dead_letter(item, refusal))
            self._session.send(SIDE, self._shape.note(item, refusal, self._lane, at))
        self._session.producer.flush()
        if SIDE in self._session.errors:
            raise KafkaError(
                f"the dead-letter topic {self._shape.dead_letter_topic} takes no records: "
                f"{self._session.errors[SIDE].str()}; check that it exists"
            )
