"""Sends records with one producer and keeps what is heard of them."""

import math
import time
from collections.abc import Iterable
from functools import partial
from itertools import count, repeat

from confluent_kafka import KafkaError as Code
from confluent_kafka import KafkaException, Message, Producer

from pipeline.outbox.publisher import Receipt
from pipeline.outbox.record import Fields, Record

SIDE = -1  # the number of records that belong to no message: dead letters, notes, the marker
MARK = -2  # ... of what follows a message in place of another scheduler
_POLL = 0.05  # seconds to wait for room when the producer's queue is full
# What a producer answers once its transaction has failed: the cause is yet to be heard.
_AFTER_AN_ERROR = frozenset({Code._STATE, Code._FATAL})
_AFTERMATH_LASTS = 2.0  # seconds
_PURGED = frozenset({Code._PURGE_QUEUE, Code._PURGE_INFLIGHT})  # taken back by an abort


class Session:
    """One attempt at sending: by the number the caller gave each record, its receipt or error.

    Each attempt has a session of its own, so that late word of an earlier one does no harm. It has
    ``patience`` seconds in all.
    """

    def __init__(self, producer: Producer, patience: float = math.inf) -> None:
        self.producer = producer
        self._give_up = time.monotonic() + patience
        self.receipts: dict[int, Receipt] = {}
        self.errors: dict[int, Code] = {}
        self._aftermath: Code | None = None

    @property
    def left(self) -> float:
        """Seconds left of its patience, never quite none."""
        return max(self._give_up - time.monotonic(), _POLL)

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
                self._stop_if_late()
                self.producer.poll(_POLL)
            except KafkaException as error:
                self._refused(number, error.args[0])
                return

    def send_messages(self, records: Iterable[Fields]) -> None:
        """Queue records, numbered from 0; the quick way for all that is well."""
        produce = self.producer.produce
        who_hears = map(partial, repeat(self._delivered), count())
        for record, told in zip(records, who_hears):  # noqa: B905  (one of them is endless)
            topic, key, value, headers, partition = record
            try:
                if headers:
                    produce(topic, value, key, partition, told, headers=headers)
                else:
                    produce(topic, value, key, partition, told)
            except (BufferError, KafkaException):
                self.send(told.args[0], Record._make(record))

    def settle(self) -> None:
        """Wait until every record so far is acknowledged or refused."""
        self.producer.flush(self.left)
        self._stop_if_late()

    def hear_for(self, seconds: float) -> None:
        """Take in what is acknowledged so far; return when all is, and after so long at most."""
        until = time.monotonic() + seconds
        while len(self.producer) and not self.errors and (left := until - time.monotonic()) > 0:
            self.producer.flush(left)

    def wait_for_all(self) -> None:
        """Wait until every record is acknowledged; raise the first error as soon as it is heard."""
        heard_by = time.monotonic() + _AFTERMATH_LASTS
        while not self.errors and len(self.producer):
            if self._aftermath is not None and time.monotonic() > heard_by:
                break
            self._stop_if_late()
            self.producer.flush(_POLL)
        for error in (*self.errors.values(), self._aftermath):
            if error is not None:
                raise KafkaException(error)
        self._stop_if_late()  # too late to be committed

    def _stop_if_late(self) -> None:
        if time.monotonic() > self._give_up:
            raise KafkaException(Code(Code._TIMED_OUT, "records were not acknowledged in time"))

    def _refused(self, number: int, error: Code) -> None:
        """Keep the first error of a record, and apart what only follows from another's."""
        if error.code() in _AFTER_AN_ERROR:
            self._aftermath = error
        else:
            self.errors.setdefault(number, error)

    def _delivered(self, number: int, error: Code | None, message: Message) -> None:
        if error is None:
            self.receipts[number] = (message.partition() or 0, message.offset() or 0)
        elif error.code() not in _PURGED:
            self._refused(number, error)
