"""Schedules messages, and says what is to become of them, from any Python program without Spark."""

import logging
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Self

from confluent_kafka import KafkaError as Failure
from confluent_kafka import KafkaException, Producer

from pipeline.commands import Command, version_text
from pipeline.config.kafka import librdkafka_options
from pipeline.config.kafka_block import KafkaSettings
from pipeline.config.settings import DEFAULT_SOURCE, Settings
from pipeline.event import (
    Attributes,
    Headers,
    Mode,
    Record,
    Wish,
    cancel_record,
    schedule_record,
)
from pipeline.login import not_let_in, turned_away
from pipeline.orders import Remarks, order_record, reschedule_record, scope_record
from pipeline.terms import Repeat, SameKey, Terms
from pipeline.written import ScheduleError
from state.errors import ConfigError, KafkaError

__all__ = ["Client", "Receipt", "Repeat", "SameKey", "ScheduleError"]

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


class Client:
    """Sends schedules to the topic a job reads; use it as a context manager.

    ``kafka`` is the brokers' addresses, or settings; ``topic`` is the one that schedules are read
    from; ``options`` go to librdkafka as they are. One client serves many threads.
    """

    def __init__(
        self,
        kafka: str | KafkaSettings | Settings = "localhost:9092",
        *,
        topic: str | None = None,
        options: Mapping[str, str | int | float | bool] | None = None,
        timeout: timedelta = timedelta(seconds=30),
    ) -> None:
        cluster = _cluster(kafka)
        source = kafka.sources[0] if isinstance(kafka, Settings) else DEFAULT_SOURCE
        self._topic = topic or source.topic
        self._servers = cluster.bootstrap_servers
        self._failures: list[str] = []
        self._heard: Any = None  # what the connection itself complained of last
        limit = {"message.timeout.ms": round(timeout.total_seconds() * 1000)}
        self._producer = self._connect(
            _OPTIONS | limit | librdkafka_options(cluster) | dict(options or {})
        )

    def schedule(
        self,
        payload: bytes | str | None,
        *,
        topic: str,
        key: bytes | str | None = None,
        at: datetime | None = None,
        delay: timedelta | str | None = None,
        repeat: Repeat | None = None,
        same_key: SameKey | None = None,
        expires_at: datetime | None = None,
        expire_after: timedelta | str | None = None,
        retry_max: int | None = None,
        retry_for: timedelta | str | None = None,
        output_key: str | None = None,
        content_type: str | None = None,
        attributes: Attributes | None = None,
        headers: Headers | None = None,
        mode: Mode = "binary",
        wait: bool = True,
    ) -> Receipt:
        """Have ``payload`` published to ``topic`` at an instant, or after a delay such as ``15m``.

        The same key again replaces what is pending under it, unless ``same_key`` says otherwise;
        without a key a new one is made. A message that ``repeat``s, or waits for others of its key
        to settle, needs no instant. With ``wait=False`` the call returns at once, and ``flush``
        tells whether all went well.
        """
        terms = Terms(
            repeat=repeat,
            same_key=same_key,
            expires_at=expires_at,
            expire_after=expire_after,
            retry_max=retry_max,
            retry_for=retry_for,
        )
        wish = Wish(payload, topic, at, delay, output_key, content_type, attributes, headers, terms)
        name = str(uuid.uuid4()) if key is None else key
        return self._send(schedule_record(_as_bytes(name), wish, mode), wait)

    def cancel(
        self,
        key: bytes | str,
        *,
        reason: str | None = None,
        actor: str | None = None,
        if_version: str | Receipt | None = None,
        reply_to: str | None = None,
        wait: bool = True,
    ) -> Receipt:
        """Withdraw what is pending under ``key``.

        As with every command, ``reason`` and ``actor`` are remembered, ``reply_to`` names a topic
        that gets the effect, and with ``if_version`` (a receipt of ``schedule``, or the text
        ``partition-offset``) it acts only on the message that this record made.
        """
        remarks = _remarks(reason, actor, if_version, reply_to)
        if remarks == Remarks():
            return self._send(cancel_record(_as_bytes(key)), wait)
        return self._send(order_record(Command.CANCEL, _as_bytes(key), remarks), wait)

    def reschedule(
        self,
        key: bytes | str,
        *,
        at: datetime | None = None,
        delay: timedelta | str | None = None,
        reason: str | None = None,
        actor: str | None = None,
        if_version: str | Receipt | None = None,
        reply_to: str | None = None,
        wait: bool = True,
    ) -> Receipt:
        """Give what is pending under ``key`` another instant, or a delay from now."""
        remarks = _remarks(reason, actor, if_version, reply_to)
        return self._send(reschedule_record(_as_bytes(key), at, delay, remarks), wait)

    def send_now(
        self,
        key: bytes | str,
        *,
        reason: str | None = None,
        actor: str | None = None,
        if_version: str | Receipt | None = None,
        reply_to: str | None = None,
        wait: bool = True,
    ) -> Receipt:
        """Have what is pending under ``key`` published at once."""
        remarks = _remarks(reason, actor, if_version, reply_to)
        return self._send(order_record(Command.SEND_NOW, _as_bytes(key), remarks), wait)

    def pause(
        self,
        key: bytes | str | None = None,
        *,
        topic: str | None = None,
        everything: bool = False,
        reason: str | None = None,
        actor: str | None = None,
        if_version: str | Receipt | None = None,
        reply_to: str | None = None,
        wait: bool = True,
    ) -> Receipt:
        """Hold back what is pending under ``key``, all for an output topic, or everything."""
        remarks = _remarks(reason, actor, if_version, reply_to)
        name = None if key is None else _as_bytes(key)
        return self._send(scope_record(Command.PAUSE, name, topic, everything, remarks), wait)

    def resume(
        self,
        key: bytes | str | None = None,
        *,
        topic: str | None = None,
        everything: bool = False,
        reason: str | None = None,
        actor: str | None = None,
        if_version: str | Receipt | None = None,
        reply_to: str | None = None,
        wait: bool = True,
    ) -> Receipt:
        """Let go what was paused; what is overdue by then goes out at once."""
        remarks = _remarks(reason, actor, if_version, reply_to)
        name = None if key is None else _as_bytes(key)
        return self._send(scope_record(Command.RESUME, name, topic, everything, remarks), wait)

    def forward(
        self,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes | None]] = (),
        *,
        partition: int | None = None,
        wait: bool = True,
    ) -> Receipt:
        """Send a record as it is, to a partition if one is named; ``id`` of the receipt is empty.

        For what is an event already, such as a record taken from the dead-letter topic.
        """
        return self._send(Record("", key, value, headers, partition), wait)

    def answers(self, within: timedelta = timedelta(seconds=5)) -> bool:
        """Tell whether a broker can be reached, and knows the topic that schedules go to."""
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.flush()
        else:
            self._producer.flush(5)

    def _connect(self, options: dict[str, Any]) -> Any:
        try:
            return Producer(options | {"error_cb": self._note_error}, logger=_LOG)
        except KafkaException as error:
            raise ConfigError(f"kafka: {error.args[0].str()}") from error

    def _send(self, record: Record, wait: bool) -> Receipt:
        delivery = _Delivery(Receipt(record.id, record.key, self._topic))
        self._produce(record, delivery.taken if wait else self._taken_later)
        while wait and not delivery.finished:
            self._producer.poll(0.1)
        if delivery.failure is not None:
            raise KafkaError(self._sentence(delivery.failure))
        return delivery.receipt

    def _produce(self, record: Record, taken: Any) -> None:
        place = {} if record.partition is None else {"partition": record.partition}
        more = {"headers": list(record.headers), "on_delivery": taken} | place
        while True:
            try:
                self._producer.produce(self._topic, record.value, record.key, **more)
            except BufferError:
                self._producer.poll(0.1)  # the queue is full: wait until some are out
            except KafkaException as error:
                raise KafkaError(self._sentence(error.args[0])) from error
            else:
                self._producer.poll(0)
                return

    def _taken_later(self, failure: Any, message: Any) -> None:
        if failure is not None:
            self._failures.append(self._sentence(failure))

    def _note_error(self, failure: Any) -> None:
        self._heard = failure

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


def _cluster(kafka: str | KafkaSettings | Settings) -> KafkaSettings:
    if isinstance(kafka, Settings):
        return kafka.kafka
    if isinstance(kafka, KafkaSettings):
        return kafka
    if not kafka:
        raise ConfigError("kafka.bootstrap_servers: must not be empty; write host:port")
    return KafkaSettings(bootstrap_servers=kafka)


def _remarks(
    reason: str | None, actor: str | None, if_version: str | Receipt | None, reply_to: str | None
) -> Remarks:
    version = if_version.version if isinstance(if_version, Receipt) else if_version
    return Remarks(reason=reason, actor=actor, if_version=version, reply_to=reply_to)


def _as_bytes(key: bytes | str) -> bytes:
    return key.encode() if isinstance(key, str) else key
