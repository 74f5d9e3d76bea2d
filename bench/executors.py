"""Measures how fast an overdue backlog goes out by the driver's lanes and by Spark's executors.

``python -m bench.executors``: each round hands over so many claims and waits until all are out and
reported. Spark is a standalone cluster on this machine with two executors of one core, or what
``--master`` says. Both rates are also given as a share of the raw transactional rate of the same
run. The benchmark runs it as one of its scenarios, with a broker of its own.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from bench.events import record
from bench.raw import raw_rate
from pipeline.clock import now_micros
from pipeline.config.load import load_settings
from pipeline.config.settings import Settings
from pipeline.local_kafka import LocalKafka
from pipeline.outbox.outbox import Outbox
from pipeline.outbox.start import start_outbox
from pipeline.session import spark_session
from pipeline.topics import prepare_topics
from state import row
from state.memory import MemoryStore
from state.row import Kind, Status
from state.settings import DAY
from tests.acceptance.standalone import Cluster

CACHE = "DUESTREAM_CACHE"
_RAW, _DRIVER, _EXECUTORS = "raw", "driver", "executors"
_TWO_EXECUTORS = {
    "spark.cores.max": "2",
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",  # begin when both are there
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


class Way(NamedTuple):
    """How messages go out, and how many a second did in each round."""

    name: str
    rates: list[float]


def main() -> None:
    """Start a broker and a session of Spark, measure, and print one table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=200_000, help="messages overdue in a round")
    options.add_argument("--rounds", type=int, default=3, help="rounds that are measured")
    options.add_argument("--lanes", type=int, default=2)
    options.add_argument("--master", help="of Spark: local[4], spark://...; else one of its own")
    options.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = options.parse_args()
    for name in [each for each in os.environ if each.startswith("DUESTREAM_") and each != CACHE]:
        del os.environ[name]
    with ExitStack() as later:
        folder = Path(later.enter_context(tempfile.TemporaryDirectory(prefix="duestream-bench-")))
        broker = later.enter_context(LocalKafka())
        spark = _spark(given.master, folder, later)
        ways = _measure(broker, spark, given)
        spark.stop()
    if given.json:
        print(json.dumps(_figures(ways)))
        return
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    where = given.master or "a standalone cluster with two executors"
    about = f"{given.count:,} overdue, {given.lanes} lanes, Spark on {where}"
    Console(width=100).print(f"{machine}; {about}", _table(ways))


def run_executors(count: int) -> dict[str, Any]:
    """Measure in a process of its own, and return the rates."""
    command = [sys.executable, "-m", "bench.executors", "--json", "--count", str(count)]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    figures: dict[str, Any] = json.loads(said.splitlines()[-1])
    of_raw = round(figures[_EXECUTORS] / figures[_RAW], 3)
    return {"messages_per_second": figures[_EXECUTORS], "of_raw": of_raw, "executors": figures}


def _spark(master: str | None, folder: Path, later: ExitStack) -> SparkSession:
    options = {"spark.sql.warehouse.dir": str(folder)}
    if master is None:
        os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
        master, options = later.enter_context(Cluster(folder)).url, options | _TWO_EXECUTORS
    return spark_session("bench", master, options)


def _figures(ways: list["Way"]) -> dict[str, int]:
    """Return the middle rate of each way."""
    return {way.name: round(statistics.median(way.rates)) for way in ways}


def _measure(broker: LocalKafka, spark: SparkSession, given: argparse.Namespace) -> list[Way]:
    servers = broker.bootstrap_servers
    broker.create_topics(["in", "out"], partitions=4)
    ways = [Way(name, []) for name in (_RAW, _DRIVER, _EXECUTORS)]
    outboxes = [
        _outbox(_settings(servers, f"bench-{n}", given.lanes, above), spark)
        for n, above in enumerate((None, 0))
    ]
    for number in range(given.rounds + 1):  # the first warms up
        rates = [raw_rate(broker)["per_second"]]
        rates += [_drained(outbox, given.count, number + 1) for outbox in outboxes]
        for way, rate in zip(ways, rates, strict=True):
            way.rates.extend([rate] if number else [])
    for outbox in outboxes:
        outbox.stop()
    return ways


def _settings(servers: str, name: str, lanes: int, above: int | None) -> Settings:
    settings = load_settings(
        flags={
            "name": name,
            "kafka.bootstrap_servers": servers,
            "outputs.allow": ["out"],
            "dead_letter.topic": f"{name}.dead",
            "sources": [{"topic": "in"}],
            "publish.lanes": lanes,
            "publish.executors_above": above,
        },
        environ={},
    )
    prepare_topics(settings)
    return settings


def _outbox(settings: Settings, spark: SparkSession) -> Outbox:
    store = MemoryStore(keep_closed=DAY)
    return start_outbox(settings, store, now_micros(), spark=spark)[0]


def _drained(outbox: Outbox, count: int, batch: int) -> float:
    """Return how many a second went out, from hand-over until the last is out and reported."""
    claims = _claims(count, batch)
    begun = time.monotonic()
    outbox.hand_over(batch, claims)
    outbox.drain()
    reported = outbox.reported().num_rows
    took = time.monotonic() - begun
    if reported != count:
        raise SystemExit(f"{reported} messages went out instead of {count}")
    return count / took


def _claims(count: int, batch: int) -> pa.Table:
    """Return claimed rows that are due for some seconds already."""
    due = now_micros() - 30_000_000
    numbers = range(count)
    records = [record(n, due // 1000, "out") for n in numbers]
    columns = {
        row.IDENTITY: [b"in\0" + key for key, _, _ in records],
        row.HASH: numbers,
        row.SOURCE_TOPIC: ["in"] * count,
        row.SOURCE_PARTITION: [0] * count,
        row.SOURCE_OFFSET: range(batch * count, (batch + 1) * count),
        row.SOURCE_TIMESTAMP: [due] * count,
        row.OCCURRENCE: [0] * count,
        row.KIND: [Kind.MESSAGE] * count,
        row.OUTPUT_TOPIC: ["out"] * count,
        row.OUTPUT_KEY: [key for key, _, _ in records],
        row.PAYLOAD: [value for _, value, _ in records],
        row.DUE: range(due, due + count),
        row.SCHEDULED: range(due, due + count),
        row.STATUS: [Status.CLAIMED] * count,
        row.CLAIM: [batch] * count,
    }
    empty = [None] * count
    return pa.table({name: columns.get(name, empty) for name in row.ROW.names}, schema=row.ROW)


def _table(ways: list[Way]) -> Table:
    raw = statistics.median(ways[0].rates)
    table = Table("way", "messages a second (median)", "least", "most", "share of raw")
    for way in ways:
        rate = statistics.median(way.rates)
        least, most = min(way.rates), max(way.rates)
        cells = (f"{rate:,.0f}", f"{least:,.0f}", f"{most:,.0f}", f"{rate / raw:.0%}")
        table.add_row(way.name, *cells)
    return table


if __name__ == "__main__":
    main()
