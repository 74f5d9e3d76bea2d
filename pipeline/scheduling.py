"""Schedules messages, and says what is to become of them, from any Python program without Spark."""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self, TypedDict, Unpack

from pipeline.commands import Command
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
from pipeline.orders import Remarks, order_record, reschedule_record, scope_record
from pipeline.sender import Options, Receipt, Sender
from pipeline.terms import Repeat, SameKey, Terms
from state.errors import ConfigError


class Said(TypedDict, total=False):
    """What may be said with every command, by keyword."""

    reason: str | None  # why, in a person's words; remembered
    actor: str | None  # who; remembered
    if_version: str | Receipt | None  # acts only on the message that this record made
    reply_to: str | None  # a topic that gets the effect
    wait: bool  # False: returns at once, and ``flush`` tells whether all went well


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
        options: Options | None = None,
        timeout: timedelta = timedelta(seconds=30),
    ) -> None:
        source = kafka.sources[0] if isinstance(kafka, Settings) else DEFAULT_SOURCE
        self._sender = Sender(_cluster(kafka), topic or source.topic, options or {}, timeout)

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
        return self._sender.send(schedule_record(_as_bytes(name), wish, mode), wait)

    def cancel(self, key: bytes | str, **said: Unpack[Said]) -> Receipt:
        """Withdraw what is pending under ``key``.

        As with every command, ``reason`` and ``actor`` are remembered, ``reply_to`` names a topic
        that gets the effect, and with ``if_version`` (a receipt of ``schedule``, or the text
        ``partition-offset``) it acts only on the message that this record made. With ``wait=False``
        the call returns at once.
        """
        remarks, wait = _remarks(**said)
        if remarks == Remarks():
            return self._sender.send(cancel_record(_as_bytes(key)), wait)
        return self._sender.send(order_record(Command.CANCEL, _as_bytes(key), remarks), wait)

    def reschedule(
        self,
        key: bytes | str,
        *,
        at: datetime | None = None,
        delay: timedelta | str | None = None,
        **said: Unpack[Said],
    ) -> Receipt:
        """Give what is pending under ``key`` another instant, or a delay from now.

        ``reason``, ``actor``, ``if_version``, ``reply_to`` and ``wait`` are as for ``cancel``.
        """
        remarks, wait = _remarks(**said)
        return self._sender.send(reschedule_record(_as_bytes(key), at, delay, remarks), wait)

    def send_now(self, key: bytes | str, **said: Unpack[Said]) -> Receipt:
        """Have what is pending under ``key`` published at once.

        ``reason``, ``actor``, ``if_version``, ``reply_to`` and ``wait`` are as for ``cancel``.
        """
        remarks, wait = _remarks(**said)
        return self._sender.send(order_record(Command.SEND_NOW, _as_bytes(key), remarks), wait)

    def pause(
        self,
        key: bytes | str | None = None,
        *,
        topic: str | None = None,
        everything: bool = False,
        **said: Unpack[Said],
    ) -> Receipt:
        """Hold back what is pending under ``key``, all for an output topic, or everything.

        ``reason``, ``actor``, ``if_version``, ``reply_to`` and ``wait`` are as for ``cancel``.
        """
        remarks, wait = _remarks(**said)
        name = None if key is None else _as_bytes(key)
        record = scope_record(Command.PAUSE, name, topic, everything, remarks)
        return self._sender.send(record, wait)

    def resume(
        self,
        key: bytes | str | None = None,
        *,
        topic: str | None = None,
        everything: bool = False,
        **said: Unpack[Said],
    ) -> Receipt:
        """Let go what was paused; what is overdue by then goes out at once.

        ``reason``, ``actor``, ``if_version``, ``reply_to`` and ``wait`` are as for ``cancel``.
        """
        remarks, wait = _remarks(**said)
        name = None if key is None else _as_bytes(key)
        record = scope_record(Command.RESUME, name, topic, everything, remarks)
        return self._sender.send(record, wait)

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
        return self._sender.send(Record("", key, value, headers, partition), wait)

    def answers(self, within: timedelta = timedelta(seconds=5)) -> bool:
        """Tell whether a broker can be reached, and knows the topic that schedules go to."""
        return self._sender.answers(within)

    def flush(self) -> None:
        """Wait until Kafka has everything; raise KafkaError for what it did not take."""
        self._sender.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self._sender.flush()
        else:
            self._sender.leave()


def _cluster(kafka: str | KafkaSettings | Settings) -> KafkaSettings:
    if isinstance(kafka, Settings):
        return kafka.kafka
    if isinstance(kafka, KafkaSettings):
        return kafka
    if not kafka:
        raise ConfigError("kafka.bootstrap_servers: must not be empty; write host:port")
    return KafkaSettings(bootstrap_servers=kafka)


def _remarks(
    *, wait: bool = True, if_version: str | Receipt | None = None, **said: str | None
) -> tuple[Remarks, bool]:
    version = if_version.version if isinstance(if_version, Receipt) else if_version
    return Remarks(if_version=version, **said), wait


def _as_bytes(key: bytes | str) -> bytes:
    return key.encode() if isinstance(key, str) else key
