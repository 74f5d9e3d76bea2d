"""What it costs to be looked at: ``python -m bench.metrics``.

A real job, on a broker of its own, at several rates; around each call of the observer is a clock.
Both times are those on the wall, so the observer's include whatever else came between.
"""

import os
import platform
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from bench.events import record
from pipeline.config.load import load_settings
from pipeline.config.settings import Settings
from pipeline.job import Job
from pipeline.local_kafka import LocalKafka
from pipeline.measure import Measure
from pipeline.observe.export import Prometheus, Snapshots, resource_of
from pipeline.observe.figures import FiguresObserver
from pipeline.observe.health import Health
from pipeline.observe.observer import Observer, Observers, Ticked
from pipeline.observe.tallies import Tallies
from pipeline.session import spark_session
from pipeline.topics import prepare_topics

_SECONDS = 15
_WARM = 10
_RATES = (0, 1_000, 3_000)


class Timed(Observer):
    """Passes everything on, and keeps the time that takes."""

    listens = True

    def __init__(self, observer: Observer) -> None:
        self._lock = threading.Lock()
        self.reset()
        self.began = observer.began
        for name in ("taken", "settled", "flushed", "lagged"):
            setattr(self, name, self.around(getattr(observer, name)))
        self._ticked = self.around(observer.ticked)

    def reset(self) -> None:
        """Begin anew."""
        self.ticks, self.in_ticks, self.spent = 0, 0.0, 0.0

    def ticked(self, tick: Ticked) -> None:
        """Keep how long it took, too."""
        self.ticks, self.in_ticks = self.ticks + 1, self.in_ticks + tick.seconds
        self._ticked(tick)

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return the same call, timed."""

        def timed(*said: object) -> Any:
            begun = time.perf_counter()
            try:
                return call(*said)
            finally:
                with self._lock:
                    self.spent += time.perf_counter() - begun

        return timed


def main() -> None:
    table = Table(
        "records/s", "ticks", "a tick, ms", "of it the observer, ms", "share", "a scrape, ms"
    )
    spark = spark_session("bench", "local[*]")
    with tempfile.TemporaryDirectory() as folder, LocalKafka() as kafka:
        tallies = Tallies()
        observer = Timed(Observers([Health(60), FiguresObserver(tallies)]))
        settings = _settings(Path(folder), kafka)
        with _running(spark, settings, observer):
            for rate in _RATES:
                table.add_row(f"{rate:,}", *_measured(kafka, observer, tallies, rate))
    spark.stop()
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    Console(width=100).print(machine, table)


def _measured(kafka: LocalKafka, observer: Timed, tallies: Tallies, rate: int) -> list[str]:
    _send(kafka, rate, _WARM)
    observer.reset()
    _send(kafka, rate, _SECONDS)
    ticks, tick, spent = observer.ticks, observer.in_ticks, observer.spent
    page, begun = Prometheus(Snapshots(tallies, resource_of("bench"))).page, time.perf_counter()
    page()
    scrape = time.perf_counter() - begun
    means = (1000 * seconds / ticks for seconds in (tick, spent))
    return [
        str(ticks),
        *(f"{ms:.2f}" for ms in means),
        f"{spent / tick:.2%}",
        f"{1000 * scrape:.1f}",
    ]


def _send(kafka: LocalKafka, rate: int, seconds: float) -> None:
    """Send schedules that are due two seconds later."""
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "linger.ms": 20})
    begun, sent = time.time(), 0
    while (passed := time.time() - begun) < seconds:
        while sent < passed * rate:
            due = int(time.time() * 1000) + 2_000
            key, value, headers = record(time.time_ns(), due, "bench.out")
            producer.produce("bench.in", value, key, headers=headers)
            sent += 1
        producer.poll(0)
        time.sleep(0.02)
    producer.flush()


def _settings(folder: Path, kafka: LocalKafka) -> Settings:
    kafka.create_topics(["bench.in", "bench.out", "bench.dead"], 4)
    settings = load_settings(
        flags={
            "name": "bench",
            "kafka.bootstrap_servers": kafka.bootstrap_servers,
            "sources": [{"topic": "bench.in"}],
            "outputs.allow": ["bench.out"],
            "dead_letter.topic": "bench.dead",
            "pipeline.checkpoint": str(folder / "checkpoint"),
            "state.delta.path": str(folder / "state"),
        },
        environ={},
    )
    prepare_topics(settings)
    return settings


@contextmanager
def _running(spark: SparkSession, settings: Settings, observer: Timed) -> Iterator[None]:
    stopped = threading.Event()
    with Job(spark, settings, Measure(), False, observer) as job:
        job._store.figures = observer.around(
            job._store.figures
        )  # it is asked for the observer alone
        thread = threading.Thread(target=job.run_until, args=[stopped.is_set])
        thread.start()
        try:
            yield
        finally:
            stopped.set()
            thread.join()


if __name__ == "__main__":
    main()
