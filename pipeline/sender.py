"""Sends records to the topic that schedules are read from, and tells where Kafka put them."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from confluent_kafka import KafkaError as Failure
from confluent_kafka import KafkaException, Producer

from pipeline.commands import version_text
from pipeline.config.kafka import librdkafka_options
from pipeline.config.kafka_block import KafkaSettings
from pipeline.event import Record
from pipeline.login import not_let_in, turned_away
from pipeline.written import ScheduleError
from state.errors import ConfigError, KafkaError

Options = Mapping[str, str | int | float | bool]

_LOG = logging.getLogger("duestream.client")
_LOG.addHandler(logging.NullHandler())

_OPTIONS = {
    # Keys must land on the partitions where Java clients put them: a schedule and its cancel may
    # come from different programs.
    "partitioner": "murmur2_random",
    "enable.idempotence": "true",
    # A topic that does not exist is told soon, not after half a minute.
    "topic.metadata.propagation.max.ms": "5000",
}
_ADVICE = {
    Failure.UNKNOWN_TOPIC_OR_PART: "the topic does not exist; create it, or name another",
    Failure._UNKNOWN_TOPIC: "the topic does not exist; create it, or name another",
    Failure.TOPIC_AUTHORIZATION_FAILED: "this user may not write to the topic; grant it WRITE",
    Failure.MSG_SIZE_TOO_LARGE: "the message is larger than the topic takes (max.message.bytes)",
}
_UNREACHED = {Failure._MSG_TIMED_OUT, Failure._TRANSPORT, Failure._ALL_BROKERS_DOWN}


class TooLargeError(KafkaError):
    """The message is larger than its topic takes, however often it is sent."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """Where Kafka put the record; partition and offset are None until that is known."""

    id: str
    key: bytes | None
    topic: str
    partition: int | None = None
    offset: int | None = None

    @property
    def version(self) -> str:
        """What names the message that this record made, for ``if_version``."""
        if self.partition is None or self.offset is None:
            raise ScheduleError(
                "if_version: this receipt does not know its offset; schedule with wait=True"
            )
        return version_text(self.partition, self.offset)


class Sender:
    """Sends to one topic; one sender serves many threads."""

    def __init__(
        self, cluster: KafkaSettings, topic: str, options: Options, timeout: timedelta
    ) -> None:
        self._topic = topic
        self._servers = cluster.bootstrap_servers
        self._failures: list[str] = []
        self._heard: Any = None  # what the connection itself complained of last
        limit = {"message.timeout.ms": round(timeout.total_seconds() * 1000)}
        self._producer = self._connect(
            _OPTIONS | limit | librdkafka_options(cluster) | dict(options)
        )

    def send(self, record: Record, wait: bool) -> Receipt:
        """Send a record; without ``wait`` the receipt knows no offset, and ``flush`` complains."""
        delivery = _Delivery(Receipt(record.id, record.key, self._topic))
        self._produce(record, delivery.taken if wait else self._taken_later)
        while wait and not delivery.finished:
            self._producer.poll(0.1)
        if delivery.failure is not None:
            raise self._error(delivery.failure)
        if wait:
            self._heard = None  # whatever it was, it is over
        return delivery.receipt

    def answers(self, within: timedelta) -> bool:
        """Tell whether a broker can be reached, and knows the topic."""
        try:
            known = self._producer.list_topics(timeout=within.total_seconds())
        except KafkaException:
            return False
        return self._topic in known.topics

    def flush(self) -> None:
        """Wait until Kafka has everything; raise KafkaError for what it did not take."""
        while self._producer.flush(1):
            pass  # the limit on each message ends this
        failures, self._failures = self._failures, []
        if failures:
            raise KafkaError(f"{len(failures)} of the messages were not sent; {failures[0]}")

    def leave(self) -> None:
        """Give what is on its way a few seconds; for who has an error to tell already."""
        self._producer.flush(5)

    def _connect(self, options: dict[str, Any]) -> Any:
        try:
            return Producer(options | {"error_cb": self._note_error}, logger=_LOG)
        except KafkaException as error:
            raise ConfigError(f"kafka: {error.args[0].str()}") from error

    def _produce(self, record: Record, taken: Any) -> None:
        place = {} if record.partition is None else {"partition": record.partition}
        more = {"headers": list(record.headers), "on_delivery": taken} | place
        while True:
            try:
                self._producer.produce(self._topic, record.value, record.key, **more)
            except BufferError:
                self._producer.poll(0.1)  # the queue is full: wait until some are out
            except KafkaException as error:
                raise self._error(error.args[0]) from error
            else:
                self._producer.poll(0)
                return

    def _taken_later(self, failure: Any, message: Any) -> None:
        if failure is not None:
            self._failures.append(self._sentence(failure))
        else:
            self._heard = None

    def _note_error(self, failure: Any) -> None:
        if self._heard is None or failure.code() != Failure._ALL_BROKERS_DOWN:
            self._heard = failure  # that all are down says nothing of why

    def _error(self, failure: Any) -> KafkaError:
        too_large = failure.code() == Failure.MSG_SIZE_TOO_LARGE
        return (TooLargeError if too_large else KafkaError)(self._sentence(failure))

    def _sentence(self, failure: Any) -> str:
        if failure.code() in _UNREACHED:
            heard = [] if self._heard is None else [self._heard]
            if turned_away(heard) is not None:
                return not_let_in(self._servers, self._heard.str())
            why = f" ({self._heard.str()})" if heard else ""
            return (
                f"kafka.bootstrap_servers: no broker at {self._servers} took the message in time; "
                f"is Kafka running there?{why}"
            )
        return f"{self._topic}: {_ADVICE.get(failure.code(), failure.str())}"


class _Delivery:
    """What became of one record."""

    def __init__(self, receipt: Receipt) -> None:
        self.receipt = receipt
        self.failure: Any = None
        self.finished = False

    def taken(self, failure: Any, message: Any) -> None:
        self.failure = failure
        if failure is None:
            place = {"partition": message.partition(), "offset": message.offset()}
            self.receipt = replace(self.receipt, **place)
        self.finished = True
