"""A job in place of three schedulers: what it writes to its input topics never comes back to it."""

import json
import time
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

from confluent_kafka import Message, Producer
from pyspark.sql import SparkSession

from pipeline.local_kafka import LocalKafka
from state.row import Status
from tests.integration.running import Place, place, running, wait_for

Read = Callable[[str], list[Message]]
DIALECTS = ("kms-json", "etf1", "karafka")
PARTITION = 1


class Producers:
    """The producers of all schedulers, with one schedule topic each."""

    def __init__(self, servers: str, sources: dict[str, str], out: str) -> None:
        self.sources = sources
        self._out = out
        self._producer = Producer({"bootstrap.servers": servers})

    def schedule(self, key: str, text: str, seconds: float) -> None:
        """Send a message of each dialect that is due in so many seconds."""
        at = time.time() + seconds
        for dialect, topic in self.sources.items():
            value, headers = getattr(self, f"_{dialect.replace('-', '_')}")(f"{dialect} {text}", at)
            self.send(topic, key.encode(), value, headers)

    def send(self, topic: str, key: bytes, value: bytes | None, headers: list) -> None:
        self._producer.produce(topic, value, key, PARTITION, headers=headers)
        self._producer.flush()

    def _kms_json(self, text: str, at: float) -> tuple[bytes, list]:
        said = {"time": int(at * 1000), "topic": self._out, "key": "", "value": _base64(text)}
        return json.dumps(said).encode(), []

    def _etf1(self, text: str, at: float) -> tuple[bytes, list]:
        named = {"scheduler-epoch": str(int(at)), "scheduler-target-topic": self._out}
        return text.encode(), list(named.items())

    def _karafka(self, text: str, at: float) -> tuple[bytes, list]:
        named = {
            "schedule_schema_version": "1.0.0",
            "schedule_source_type": "schedule",
            "schedule_target_epoch": str(int(at)),
            "schedule_target_topic": self._out,
        }
        return text.encode(), list(named.items())


def _base64(text: str) -> str:
    return b64encode(text.encode()).decode()


def _place(folder: Path, broker: LocalKafka, topics: Callable[..., str]) -> tuple[Place, dict]:
    sources = {dialect: topics(dialect, partitions=2) for dialect in DIALECTS}
    blocks = [
        {"topic": topic, "dialect": dialect, "drop_in": True} for dialect, topic in sources.items()
    ]
    blocks[DIALECTS.index("etf1")]["history_topic"] = f"history.{sources['etf1']}"
    here = place(
        folder,
        broker.bootstrap_servers,
        topics,
        **{"sources": blocks, "publish.lookahead_min": "1500ms"},
    )
    return here, sources


def test_a_job_marks_what_it_sends_and_reads_its_marks_without_effect(
    spark: SparkSession,
    broker: LocalKafka,
    topics: Callable[..., str],
    read: Read,
    tmp_path: Path,
) -> None:
    here, sources = _place(tmp_path, broker, topics)
    producers = Producers(broker.bootstrap_servers, sources, here.out)

    def marks(key: bytes) -> dict[str, list[Message]]:
        found = {dialect: read(topic) for dialect, topic in sources.items()}
        return {
            d: [m for m in all_ if m.key() == key and m.value() is None]
            for d, all_ in found.items()
        }

    def wait_for_texts(*texts: str) -> None:
        wanted = {f"{dialect} {text}".encode() for dialect in DIALECTS for text in texts}
        wait_for(lambda: {m.value() for m in read(here.out)} >= wanted, f"{texts} to go out")

    with running(spark, here.settings):
        producers.schedule("k", "first", 0)
        wait_for_texts("first")
        first = marks(b"k")
        assert {d: [m.partition() for m in of] for d, of in first.items()} == {
            dialect: [PARTITION] for dialect in DIALECTS
        }
        # The schedule is replaced at the moment it fires: the mark stands after the new one.
        producers.schedule("k", "second", 3)
        for dialect, (mark,) in first.items():
            producers.send(sources[dialect], mark.key(), None, mark.headers())
        wait_for_texts("second")
        producers.schedule("last", "third", 0)  # when these are out all marks before are read
        wait_for_texts("third")
    ledger = here.stats().ledger
    assert (ledger.accepted, ledger.ends[Status.DONE], ledger.difference) == (9, 9, 0)
    assert (ledger.ends[Status.CANCELLED], ledger.late_cancels, ledger.rejected) == (0, 0, 0)
    assert len(read(here.out)) == 9
    assert {d: len(of) for d, of in marks(b"k").items()} == dict.fromkeys(DIALECTS, 3)
    assert sorted(m.value() for m in read(f"history.{sources['etf1']}")) == [
        b"etf1 first",
        b"etf1 second",
        b"etf1 third",
    ]
