"""Publishes a flush as one Kafka transaction with the marker inside: all of it is out, or nothing.

Whatever can be doubted is settled by the marker: after a timeout or an unclear error the producer
is thrown away, a new one fences it, and the marker it finds says whether the flush is out.
"""

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field

from confluent_kafka import KafkaError as Code
from confluent_kafka import KafkaException, Producer

from pipeline.clock import now_micros
from pipeline.outbox.blame import at_fault, doubtful
from pipeline.outbox.connection import Connection
from pipeline.outbox.decide import decided
from pipeline.outbox.decision import Decision
from pipeline.outbox.lane import Flush
from pipeline.outbox.marker import Marker
from pipeline.outbox.newest import Newest, newest_record
from pipeline.outbox.publisher import Published
from pipeline.outbox.records import Shape
from pipeline.outbox.refusal import Refusal, is_of_a_row, is_too_large
from pipeline.outbox.retry import RetryRules
from pipeline.outbox.session import MARK, SIDE, Session
from pipeline.outbox.signature import Loan, borrower, is_from, is_signed
from pipeline.outbox.taken_over import FENCED, TakenOver
from pipeline.outbox.topics import Topics
from pipeline.outbox.waiting import when_reached
from state.crashpoint import Point, reach
from state.errors import KafkaError

log = logging.getLogger(__name__)

_PARDONS = 3  # times that a loan may cost the lender its producer
_TO_BORROW = 10.0  # seconds; all lanes that are lent rest until the last one is back
_SHORTEST_WAIT = 0.1
_LONGEST_WAIT = 10.0
_MANY = 1_000  # messages in a flush for which lanes take turns
_A_TURN = 0.2  # seconds that a lane listens in its turn for what Kafka has taken


@dataclass(slots=True)
class How:
    """How a flush is sent, as learnt from earlier attempts."""

    refused: dict[int, Refusal]
    decided: dict[int, Decision] = field(default_factory=dict)  # in the last transaction
    alone: set[int] = field(default_factory=set)  # refused in company only: a batch for each
    whole: bool = True  # dead letters with their value
    whole_marks: bool = True  # what follows a message in place of another scheduler, with all of it


class TransactionalPublisher:
    """Publishes one lane; its transactional id keeps any earlier holder of the lane out."""

    def __init__(
        self,
        lane: int,
        connection: Connection,
        shape: Shape,
        topics: Topics,
        retry: RetryRules,
        stopping: Callable[[], bool],
        clock: Callable[[], int] = now_micros,
        turn: AbstractContextManager[object] | None = None,
    ) -> None:
        """Open nothing yet; lanes that share ``turn`` take turns at sending many messages."""
        self._turn = turn
        self._lane = lane
        self._connection = connection
        self._patience = connection.patience
        self._shape = shape
        self._topics = topics
        self._retry = retry
        self._stopping = stopping
        self._clock = clock
        self._producer: Producer | None = None
        self._marker: Marker | None = None  # the last one seen or written
        self._run = connection.run  # what markers are signed with
        self._taken_back = 0  # times
        self._pardons = 0  # how often it may be fenced yet by one that it lent the lane to
        self._begins = 0  # offset of the first marker that can be this run's: older ones are past

    def open(self) -> Marker | None:
        """Fence whoever held the lane, settle its open transaction and read the marker."""
        return _marker_of(self._open())

    def lend(self) -> Loan:
        """Let go of the lane, for others to publish on it until it is taken back."""
        self._producer = None
        self._pardons = _PARDONS
        self._loan = Loan(self._run, self._begins)
        return self._loan

    def borrow(self, loan: Loan) -> Marker | None:
        """Open a lane that is lent, unless it was taken back, and return how far it came."""
        self._run, self._begins = loan
        patience, self._patience = self._patience, min(self._patience, _TO_BORROW)
        newest = self._open_again()
        self._run, self._patience = borrower(loan), patience
        return _marker_of(newest)

    def take_back(self, waits: Callable[[], None] = lambda: None) -> Marker:
        """Fence whoever borrowed the lane, and return how far it came; signed, so that all see.

        A borrower that comes late may do the same and go on, until the signature is there: then
        it has come further, and its marker counts. ``waits`` is told when Kafka does not answer.
        """
        for _ in range(_PARDONS):
            with suppress(TakenOver):
                return self._signed_again(waits)
        return self._signed_again(waits)

    def _signed_again(self, waits: Callable[[], None]) -> Marker:
        def stop_or_wait(error: KafkaException) -> None:
            self._stop_if_told(error)
            waits()

        self._run, self._begins = self._loan
        marker = _marker_of(when_reached(self._open_again, stop_or_wait))
        if marker is None:
            raise KafkaError(f"the marker of lane {self._lane} is gone from Kafka")
        self._taken_back += 1
        self._run = f"{self._connection.run}-{self._taken_back}"
        self.publish(Flush([], marker))
        return marker

    def _open(self) -> Newest:
        self._producer = None  # the old one goes before the new one comes
        self._producer = Producer(self._connection.transactional(self._lane))
        self._producer.init_transactions(self._patience)
        newest = self._newest_marker(settled=True)
        self._marker, self._begins = _marker_of(newest), newest.end
        return newest

    def publish(self, flush: Flush) -> Published:
        """Publish, whatever it takes; what Kafka refuses is decided upon."""
        how = How(self._refused(flush))
        wait = _SHORTEST_WAIT
        while True:
            turn = self._turn_for(flush, how)
            try:
                with turn:
                    session = self._new_session()  # its time begins when it is its turn
                    session.producer.begin_transaction()
                    self._send_all(session, flush, how)
                    session.send(SIDE, self._shape.marker(flush.marker, self._lane, self._run))
                with turn:
                    session.hear_for(_A_TURN)
                self._commit(session)
            except KafkaException as error:
                self._stop_if_told(error)
                reason = error.args[0].str()
            else:
                self._marker = flush.marker
                receipts = list(map(session.receipts.get, range(len(flush.items))))
                return Published(self._clock(), receipts, how.decided)
            if self._is_out(flush.marker):
                return Published(self._clock(), [None] * len(flush.items), how.decided)
            if not (self._look_again(flush, how) or self._learn(flush, session.errors, how)):
                log.warning("lane %d cannot publish yet: %s", self._lane, reason)
                time.sleep(wait)
                wait = min(wait * 2, _LONGEST_WAIT)

    def close(self) -> None:
        """Let go of the broker."""
        self._producer = None

    def _turn_for(self, flush: Flush, how: How) -> AbstractContextManager[object]:
        """Return what keeps other lanes from sending many messages, or hearing of them, meanwhile.

        They would hand the interpreter lock to each other with every message. In turns each is done
        sooner, and Kafka takes in what one has sent while the next one sends. Who waits for Kafka
        between two messages takes no turn: the others would wait with it.
        """
        at_once = how.whole_marks and not how.alone
        many = len(flush.items) >= _MANY
        return self._turn if self._turn is not None and many and at_once else nullcontext()

    def _send_all(self, session: Session, flush: Flush, how: How) -> None:
        at = self._clock()
        how.decided = decided(flush, how.refused, self._retry, at)
        if how.decided or how.alone:
            self._send_each(session, flush, how, at)
        else:
            session.send_messages(self._shape.messages(flush, at))
        for record in self._shape.following(flush, how.decided, at, whole=how.whole_marks):
            session.send(MARK, record)
            if not how.whole_marks:  # a batch for each: some may have been refused in company only
                session.settle()

    def _send_each(self, session: Session, flush: Flush, how: How, at: int) -> None:
        for number, item in enumerate(flush.items):
            if number in how.decided:
                for record in self._shape.instead(
                    item, how.decided[number], self._lane, whole=how.whole
                ):
                    session.send(SIDE, record)
            elif number in how.alone:
                session.settle()
                session.send(number, self._shape.message(item, at))
                session.settle()
            else:
                session.send(number, self._shape.message(item, at))

    def _commit(self, session: Session) -> None:
        session.wait_for_all()  # a commit would wait for records that are stuck
        reach(Point.IN_TRANSACTION)
        session.producer.commit_transaction(session.left)
        reach(Point.AFTER_TRANSACTION)

    def _look_again(self, flush: Flush, how: How) -> bool:
        """Ask what the topics take now: one may be gone since; tell whether that is so."""
        known = set(how.refused)
        how.refused.update(self._refused(flush, anew=True))
        return how.refused.keys() > known

    def _refused(self, flush: Flush, anew: bool = False) -> dict[int, Refusal]:
        return when_reached(
            lambda: self._topics.refused(flush, self._shape, anew), self._stop_if_told
        )

    def _learn(self, flush: Flush, errors: dict[int, Code], how: How) -> bool:
        """Change how the flush is sent so that it gets past these errors, if they are of rows."""
        if SIDE in errors and how.whole and is_too_large(errors[SIDE]):
            how.whole = False
            return True
        if SIDE in errors and is_of_a_row(errors[SIDE]):
            raise KafkaError(self._shape.takes_no_records(errors[SIDE].str()))
        if MARK in errors and how.whole_marks and is_too_large(errors[MARK]):
            how.whole_marks = False
            return True
        if MARK in errors and is_of_a_row(errors[MARK]):
            raise KafkaError(self._shape.drop_in.takes_no_records(errors[MARK].str()))
        numbers = doubtful(flush, errors)
        found = at_fault(flush, numbers, lambda some: self._probe(flush, some)) if numbers else {}
        how.refused.update(found)
        how.alone |= set(numbers) - set(found)
        return bool(numbers)

    def _probe(self, flush: Flush, numbers: Sequence[int]) -> dict[int, Code]:
        """Send messages in a transaction that never commits; the next ``open`` aborts it."""
        session, at = self._new_session(), self._clock()
        with suppress(KafkaException):
            session.producer.begin_transaction()
            for number in numbers:
                session.send(number, self._shape.message(flush.items[number], at))
            session.wait_for_all()
        self._is_out(flush.marker)
        return session.errors

    def _new_session(self) -> Session:
        if self._producer is None:
            raise RuntimeError("publish before open")
        return Session(self._producer, self._patience)

    def _is_out(self, marker: Marker) -> bool:
        """Start over with a new producer and ask the marker whether the flush went out.

        A marker that is neither this flush's nor the one before it was written by another job. The
        two are the same where a start signs a lane: then the signature tells.
        """
        known = self._marker
        newest = when_reached(self._open_again, self._stop_if_told)
        found = _marker_of(newest)
        if found not in (marker, known):
            raise TakenOver
        return found == marker and is_signed(newest, self._run)

    def _open_again(self) -> Newest:
        """Open the lane, unless another run has signed it since this one opened it.

        To open it fences whoever holds it. A job that was frozen, and wakes up to a timeout, would
        fence its successor; so it looks first. It looks again afterwards: if the successor came in
        between, both stop, and nothing goes out that the successor took back.
        """
        begins = self._begins
        self._stop_if_anothers(self._newest_marker(settled=False), begins)
        newest = self._open()
        self._stop_if_anothers(newest, begins)
        return newest

    def _stop_if_anothers(self, newest: Newest, begins: int) -> None:
        record = newest.record
        is_since = record is not None and (record.offset() or 0) >= begins
        if is_since and not is_from(newest, self._run):
            raise TakenOver

    def _newest_marker(self, *, settled: bool) -> Newest:
        return newest_record(
            self._connection.client,
            self._shape.markers_topic,
            self._lane,
            self._shape.marker_key,
            self._patience,
            settled=settled,
        )

    def _stop_if_told(self, error: KafkaException) -> None:
        if error.args[0].code() in FENCED:
            if self._pardons == 0:
                raise TakenOver from error
            self._pardons -= 1  # by a task of its own, perhaps: the newest marker tells
        if self._stopping():
            raise KafkaError(
                f"stopped while Kafka could not be reached: {error.args[0].str()}; what waits is "
                "in the state and goes out at the next start"
            ) from error


def _marker_of(newest: Newest) -> Marker | None:
    return None if newest.record is None else Marker.from_json(newest.record.value())
