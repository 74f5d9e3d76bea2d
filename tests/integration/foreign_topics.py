"""Fills topics as the users of other schedulers do: in each dialect the same story."""

import base64
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import fastavro
from confluent_kafka import Producer

Headers = list[tuple[str, bytes]]
Record = tuple[bytes | None, Headers]

_AVRO = fastavro.parse_schema(
    {
        "type": "record",
        "name": "Schedule",
        "fields": [
            {"name": "time", "type": "long"},
            {"name": "topic", "type": "string"},
            {"name": "key", "type": "bytes"},
            {"name": "value", "type": ["null", "bytes"]},
        ],
    }
)
GARBAGE = b"\xff\x00 no schedule"


@dataclass(frozen=True)
class Dialect:
    """How a dialect writes schedules; ``put`` takes a key, a topic and seconds since 1970."""

    name: str
    put: Callable[[str, str, int], Record]
    mark: Callable[[str], Record] | None = None  # that the scheduler leaves of a message it sent
    garbage: Record = (GARBAGE, [])
    names_topic: bool = True


def _cloudevents(key: str, topic: str, due: int) -> Record:
    at = datetime.fromtimestamp(due, UTC).isoformat()
    data = {"message": f"to {key}", "metaData": {"startAt": at, "outputTopic": topic}}
    event = {"specversion": "1.0", "id": key, "source": "/s", "type": "T", "data": data}
    return json.dumps(event).encode(), []


def _mongo(key: str, topic: str, due: int) -> Record:
    event = {"type": "Delayed", "publishAt": due, "message": f"to {key}", "partitionKey": key}
    return json.dumps(event).encode(), []


def _kms_avro(key: str, topic: str, due: int) -> Record:
    out = io.BytesIO()
    schedule = {
        "time": due * 1000,
        "topic": topic,
        "key": key.encode(),
        "value": b"to " + key.encode(),
    }
    fastavro.schemaless_writer(out, _AVRO, schedule)
    return out.getvalue(), []


def _kms_json(key: str, topic: str, due: int) -> Record:
    def coded(text: str) -> str:
        return base64.b64encode(text.encode()).decode()

    schedule = {"time": due * 1000, "topic": topic, "key": coded(key), "value": coded(f"to {key}")}
    return json.dumps(schedule).encode(), []


def _etf1(key: str, topic: str, due: int) -> Record:
    said = {"scheduler-epoch": str(due), "scheduler-target-topic": topic}
    return f"to {key}".encode(), _headers(said | {"scheduler-target-key": key})


def _karafka(key: str, topic: str, due: int) -> Record:
    said = {
        "schedule_schema_version": "1.0.0",
        "schedule_source_type": "schedule",
        "schedule_target_epoch": str(due),
        "schedule_target_topic": topic,
        "schedule_target_key": key,
    }
    return f"to {key}".encode(), _headers(said)


def _kms_mark(key: str) -> Record:
    return None, _headers({"schedule:expired": "true"})


def _etf1_mark(key: str) -> Record:
    said = {"scheduler-epoch": "1", "scheduler-target-topic": "t", "scheduler-timestamp": "1"}
    return None, _headers(said | {"scheduler-key": key, "scheduler-topic": "schedules"})


def _headers(said: dict[str, str]) -> Headers:
    return [(name, value.encode()) for name, value in said.items()]


DIALECTS = {
    each.name: each
    for each in (
        Dialect("cloudevents", _cloudevents),
        Dialect("cloudevents-mongo", _mongo, names_topic=False),
        Dialect("kms-avro", _kms_avro, _kms_mark),
        Dialect("kms-json", _kms_json, _kms_mark),
        Dialect("etf1", _etf1, _etf1_mark),
        Dialect("karafka", _karafka),
    )
}
CANCEL: Record = (None, [])


class Story:
    """Sends records of one dialect to one topic, each to the partition that is named."""

    def __init__(self, servers: str, dialect: Dialect, topic: str, out: str, now: int) -> None:
        self._producer = Producer({"bootstrap.servers": servers})
        self._dialect, self._topic, self._out, self._now = dialect, topic, out, now

    def put(self, key: str, after: int, to: str | None = None, **place: int) -> None:
        self._send(key, self._dialect.put(key, to or self._out, self._now + after), **place)

    def cancel(self, key: str, **place: int) -> None:
        self._send(key, CANCEL, **place)

    def mark(self, key: str) -> None:
        assert self._dialect.mark is not None
        self._send(key, self._dialect.mark(key))

    def garbage(self, key: str) -> None:
        self._send(key, self._dialect.garbage)

    def tell(self, forbidden: str) -> None:
        """Schedule three to come and two overdue, and one of each other fate."""
        for n in range(3):
            self.put(f"to-come-{n}", 86_400)
        for n in range(2):
            self.put(f"overdue-{n}", -60)
        self.put("gone", 86_400)
        self.cancel("gone")
        self.cancel("never-there")
        self.put("moved", -60)
        self.put("moved", 86_400)
        self.put("again", 86_400)
        self.cancel("again")
        self.put("again", 86_400)
        if self._dialect.mark is not None:
            self.put("out", -60)
            self.mark("out")
        self.put("good", 86_400)
        self.garbage("good")
        self.garbage("bad")
        if self._dialect.names_topic:
            self.put("elsewhere", 86_400, to=forbidden)
        # On two partitions: the later timestamp is that of the lower offset.
        self.put("wide", 86_400, partition=1, stamp=2_000)
        self.cancel("wide", partition=0, stamp=1_000)
        self.flush()

    def flush(self) -> None:
        assert self._producer.flush(60) == 0

    def _send(self, key: str, record: Record, partition: int = 0, stamp: int | None = None) -> None:
        value, headers = record
        at = {} if stamp is None else {"timestamp": self._now * 1000 + stamp}
        self._producer.produce(self._topic, value, key.encode(), partition, headers=headers, **at)
        self._producer.poll(0)
