"""Publishes a flush without transactions, for brokers that have none: at least once.

There is no marker, so after a crash everything that was claimed and not settled goes out again,
with the same fire id.
"""

import logging
import time
from collections.abc import Callable
from functools import partial

from confluent_kafka import KafkaError as Code
from confluent_kafka import KafkaException, Producer

from pipeline.clock import now_micros
from pipeline.outbox.blame import refusal_in
from pipeline.outbox.connection import Connection
from pipeline.outbox.decide import decided, expired
from pipeline.outbox.decision import Decision
from pipeline.outbox.lane import Flush
from pipeline.outbox.marker import Marker
from pipeline.outbox.publisher import Published, Receipt
from pipeline.outbox.records import Shape
from pipeline.outbox.refusal import is_of_a_row, is_too_large
from pipeline.outbox.retry import RetryRules
from pipeline.outbox.session import MARK, SIDE, Session
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
        refused = when_reached(lambda: self._topics.refused(flush, self._shape), self._stop_if_told)
        receipts: dict[int, Receipt] = {}
        decisions = decided(flush, refused, self._retry, now_micros())
        numbers = [i for i in range(len(flush.items)) if i not in decisions]
        errors = self._send(flush, numbers, receipts)
        while errors:
            self._wait(errors)
            late = expired(flush, now_micros())
            decisions |= {number: late[number] for number in errors if number in late}
            left = [number for number in errors if number not in late]
            errors = self._send_alone(flush, left, receipts, decisions)
        letters = partial(self._send_decisions, flush, decisions)
        self._insist(letters, self._shape.takes_no_records)
        marks = partial(self._send_marks, flush, decisions)
        self._insist(marks, self._shape.drop_in.takes_no_records)
        receipt_of = [receipts.get(i) for i in range(len(flush.items))]
        return Published(now_micros(), receipt_of, decisions)

    def close(self) -> None:
        """Send what is still queued."""
        self._producer.flush(self._timeout)

    def _send(
        self, flush: Flush, numbers: list[int], receipts: dict[int, Receipt]
    ) -> dict[int, Code]:
        session, at = Session(self._producer), now_micros()
        for number in numbers:
            session.send(number, self._shape.message(flush.items[number], at))
        self._producer.flush()
        receipts.update(session.receipts)
        return session.errors

    def _send_alone(
        self,
        flush: Flush,
        numbers: list[int],
        receipts: dict[int, Receipt],
        decisions: dict[int, Decision],
    ) -> dict[int, Code]:
        left: dict[int, Code] = {}
        for number in numbers:
            errors = self._send(flush, [number], receipts)
            refusal = refusal_in(flush, number, errors)
            if refusal is not None:
                item = flush.items[number]
                decisions[number] = self._retry.decide(item, refusal, now_micros())
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

    def _insist(
        self, send: Callable[[bool], dict[int, Code]], refusal: Callable[[str], str]
    ) -> None:
        """Write what goes with the messages; where that is too large, without the value."""
        whole = True
        while errors := send(whole):
            first = next(iter(errors.values()))
            if whole and is_too_large(first):
                whole = False
            elif is_of_a_row(first):
                raise KafkaError(refusal(first.str()))
            else:
                self._wait(errors)

    def _send_decisions(
        self, flush: Flush, decisions: dict[int, Decision], whole: bool
    ) -> dict[int, Code]:
        """Write letters and notes."""
        session = Session(self._producer)
        for number, decision in decisions.items():
            item = flush.items[number]
            for record in self._shape.instead(item, decision, self._lane, whole=whole):
                session.send(SIDE, record)
        self._producer.flush()
        return session.errors

    def _send_marks(
        self, flush: Flush, decisions: dict[int, Decision], whole: bool
    ) -> dict[int, Code]:
        """Write what follows the messages in place of another scheduler."""
        session = Session(self._producer)
        for record in self._shape.following(flush, decisions, now_micros(), whole=whole):
            session.send(MARK, record)
            if not whole:  # a batch for each: some may have been refused in company only
                self._producer.flush()
        self._producer.flush()
        return session.errors
