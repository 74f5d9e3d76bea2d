"""A job that runs in a thread of the test, with topics and tables of its own."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from pipeline.client import Client
from pipeline.clock import now_micros
from pipeline.config.load import load_settings
from pipeline.config.settings import Settings
from pipeline.job import Job
from pipeline.measure import Measure
from pipeline.observe.observer import SILENT, Observer
from pipeline.topics import prepare_topics
from state import row
from state.inspect import Stats
from state.open import open_inspector
from state.row import Kind

PATIENCE = 180.0


@dataclass(frozen=True)
class Place:
    """Where a job runs: its settings, and the names tests need."""

    settings: Settings
    input: str
    out: str
    dead: str

    def client(self) -> Client:
        return Client(self.settings)

    def rows_of(self, key: str) -> list[dict[str, Any]]:
        """The messages the state knows of a key, oldest first."""
        rows = open_inspector(self.settings.state).versions(key.encode()).to_pylist()
        messages = [line for line in rows if line[row.KIND] == Kind.MESSAGE]
        return sorted(messages, key=lambda line: line[row.SOURCE_OFFSET])

    def statuses_of(self, key: str) -> list[str]:
        return [line[row.STATUS] for line in self.rows_of(key)]

    def stats(self) -> Stats:
        return open_inspector(self.settings.state).stats(now_micros())


def place(folder: Path, servers: str, topics: Callable[..., str], **flags: object) -> Place:
    """Make topics and settings for one job."""
    names = (topics("in", partitions=3), topics("out", partitions=2), topics("dead"))
    settings = load_settings(
        flags={
            "name": names[0],
            "kafka.bootstrap_servers": servers,
            "sources": [{"topic": names[0]}],
            "outputs.allow": [names[1], "missing-*"],
            "dead_letter.topic": names[2],
            "pipeline.checkpoint": str(folder / "checkpoint"),
            "pipeline.trigger_interval": "200ms",
            "publish.lookahead_min": "15s",  # claimed long before due: time to take it back
            "state.delta.path": str(folder / "state"),
        }
        | flags,
        environ={},
    )
    prepare_topics(settings)
    return Place(settings, *names)


@contextmanager
def running(
    spark: SparkSession,
    settings: Settings,
    measure: Measure | None = None,
    observer: Observer = SILENT,
) -> Iterator[Job]:
    """Run the job until the block ends; what it raises is raised here."""
    stopped = threading.Event()
    failures: list[BaseException] = []

    def run(job: Job) -> None:
        try:
            job.run_until(stopped.is_set)
        except BaseException as failure:
            failures.append(failure)

    with Job(spark, settings, measure or Measure(), once=False, observer=observer) as job:
        thread = threading.Thread(target=run, args=[job])
        thread.start()
        try:
            yield job
        finally:
            stopped.set()
            thread.join()
        if failures:
            raise failures[0]


def run_once(spark: SparkSession, settings: Settings) -> None:
    with Job(spark, settings, Measure(), once=True) as job:
        job.run_once()


def wait_for(condition: Callable[[], bool], what: str) -> None:
    give_up = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < give_up, f"gave up waiting for {what}"
        time.sleep(0.1)


def in_seconds(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)
