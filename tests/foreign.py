"""Speaks the formats of other schedulers to Kafka, and says what each record must become.

Written from their descriptions alone: nothing of the code that reads them is used here.
"""

import base64
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

import fastavro
from confluent_kafka import KafkaError, Message, Producer

DIALECTS = ("cloudevents-mongo", "kms-avro", "kms-json", "etf1", "karafka")
FRAME = b"\0\0\0\x01\x2a"  # Confluent's, before a value of schema 298

Headers = tuple[tuple[str, bytes | None], ...]

_FOUR = [
    {"name": "time", "type": "long"},
    {"name": "topic", "type": "string"},
    {"name": "key", "type": "bytes"},
    {"name": "value", "type": ["null", "bytes"]},
]
_FIFTH = {"name": "headers", "type": {"type": "map", "values": "bytes"}}
OLD = fastavro.parse_schema({"type": "record", "name": "Old", "fields": _FOUR})
NEW = fastavro.parse_schema({"type": "record", "name": "New", "fields": [*_FOUR, _FIFTH]})


class Wanted(NamedTuple):
    """A message as its producer wants it to come out; ``due`` in milliseconds."""

    topic: str
    due: int
    key: bytes | None = b"to"
    value: bytes | None = b"payload"
    headers: Headers = ()
    partition: int | None = None


class Spoken(NamedTuple):
    """The record that asks for it."""

    value: bytes | None
    headers: Headers = ()


class Out(NamedTuple):
    """What a consumer sees of a message, but for where it stands."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers


@dataclass(slots=True)
class Sent:
    """A record on its way to a source, and, once it is there, where it stands."""

    topic: str
    key: bytes
    spoken: Spoken
    timestamp: int  # milliseconds
    partition: int = -1
    offset: int = -1

    def arrived(self, error: KafkaError | None, message: Message) -> None:
        """Take the report of its delivery."""
        assert error is None, error
        self.partition, self.offset = message.partition(), message.offset()


def mongo(wanted: Wanted, in_seconds: bool = False) -> Spoken:
    at = datetime.fromtimestamp(wanted.due / 1000, UTC).isoformat(timespec="milliseconds")
    event = {
        "type": "Delayed",
        "publishAt": wanted.due / 1000 if in_seconds else at,
        "message": None if wanted.value is None else wanted.value.decode(),
    }
    if wanted.key is not None:
        event["partitionKey"] = wanted.key.decode()
    return Spoken(json.dumps(event).encode())


def kms_avro(wanted: Wanted, fields: int = 5, frame: bytes = b"") -> Spoken:
    schedule = {
        "time": wanted.due,
        "topic": wanted.topic,
        "key": wanted.key,
        "value": wanted.value,
        "headers": dict(wanted.headers),
    }
    out = io.BytesIO()
    fastavro.schemaless_writer(out, NEW if fields == 5 else OLD, schedule)
    return Spoken(frame + out.getvalue())


def kms_json(wanted: Wanted, in_full: bool = True) -> Spoken:
    """Write the schedule; what is not ``in_full`` leaves nulls and padding out."""
    schedule: dict[str, object] = {
        "time": wanted.due if in_full else str(wanted.due),
        "topic": wanted.topic,
        "key": _base64(wanted.key or b"", in_full),
        "value": None if wanted.value is None else _base64(wanted.value, in_full),
        "headers": {name: _base64(said or b"", in_full) for name, said in wanted.headers} or None,
    }
    given = {name: said for name, said in schedule.items() if in_full or said is not None}
    return Spoken(json.dumps(given).encode())


def etf1(wanted: Wanted) -> Spoken:
    named = {
        "scheduler-epoch": _seconds(wanted.due),
        "scheduler-target-topic": wanted.topic.encode(),
        "scheduler-target-key": wanted.key,
    }
    return Spoken(wanted.value, (*wanted.headers, *_given(named)))


def karafka(wanted: Wanted) -> Spoken:
    named = {
        "schedule_schema_version": b"1.0.0",
        "schedule_target_epoch": _seconds(wanted.due),
        "schedule_source_type": b"schedule",
        "schedule_target_topic": wanted.topic.encode(),
        "schedule_target_key": wanted.key,
        "schedule_target_partition": None if wanted.partition is None else b"%d" % wanted.partition,
    }
    return Spoken(wanted.value, (*_given(named), *wanted.headers))


SPEAKERS: dict[str, Callable[[Wanted], Spoken]] = {
    "cloudevents-mongo": mongo,
    "kms-avro": kms_avro,
    "kms-json": kms_json,
    "etf1": etf1,
    "karafka": karafka,
}


def expected(dialect: str, wanted: Wanted, sent: Sent) -> Out:
    """Return what a consumer must see, once the record has arrived."""
    return Out(wanted.topic, wanted.key, wanted.value, _headers_of(dialect, wanted, sent))


def seen(message: Message) -> Out:
    """Return what a consumer sees."""
    return Out(message.topic(), message.key(), message.value(), tuple(message.headers() or ()))


def _headers_of(dialect: str, wanted: Wanted, sent: Sent) -> Headers:
    if dialect == "cloudevents-mongo":
        return ()
    if dialect in ("kms-avro", "kms-json"):
        return wanted.headers
    if dialect == "etf1":
        added: Headers = (
            ("scheduler-timestamp", _seconds(sent.timestamp)),
            ("scheduler-key", sent.key),
            ("scheduler-topic", sent.topic.encode()),
        )
        return (*sent.spoken.headers, *added)
    return (
        *sent.spoken.headers,
        ("duestream-source-topic", sent.topic.encode()),
        ("duestream-source-partition", b"%d" % sent.partition),
        ("duestream-source-offset", b"%d" % sent.offset),
        ("duestream-source-key", sent.key),
    )


@dataclass
class Post:
    """Takes records to the sources."""

    servers: str
    producer: Producer = field(init=False)

    def __post_init__(self) -> None:
        """Open a producer that places records as those of the other schedulers do."""
        self.producer = Producer(
            {
                "bootstrap.servers": self.servers,
                "partitioner": "murmur2_random",
                "log_level": 0,  # it outlives the broker
            }
        )

    def send(
        self, topic: str, key: bytes, spoken: Spoken, timestamp: int, partition: int = -1
    ) -> Sent:
        """Send one record; it has arrived after ``flush``."""
        sent = Sent(topic, key, spoken, timestamp)
        self.producer.produce(
            topic,
            spoken.value,
            key,
            partition,
            timestamp=timestamp,
            headers=list(spoken.headers),
            on_delivery=sent.arrived,
        )
        self.producer.poll(0)
        return sent

    def flush(self) -> None:
        """Wait until Kafka has it all."""
        assert self.producer.flush(60) == 0, "Kafka does not take the records"


def partition_by(key: bytes, partitions: int) -> int:
    """Return where Kafka's own producers put a key: by murmur2."""
    word = partial(int.from_bytes, byteorder="little")
    mask, mixer = 0xFFFFFFFF, 0x5BD1E995
    found = 0x9747B28C ^ len(key)
    whole = len(key) & ~3
    for at in range(0, whole, 4):
        mixed = word(key[at : at + 4]) * mixer & mask
        mixed = (mixed ^ mixed >> 24) * mixer & mask
        found = (found * mixer & mask) ^ mixed
    if whole < len(key):
        found = (found ^ word(key[whole:])) * mixer & mask
    found = (found ^ found >> 13) * mixer & mask
    found ^= found >> 15
    return (found & 0x7FFFFFFF) % partitions


def _seconds(milliseconds: int) -> bytes:
    return b"%d" % (milliseconds // 1000)


def _given(named: dict[str, bytes | None]) -> Headers:
    return tuple((name, said) for name, said in named.items() if said is not None)


def _base64(data: bytes, padded: bool) -> str:
    text = base64.b64encode(data).decode()
    return text if padded else text.rstrip("=")
