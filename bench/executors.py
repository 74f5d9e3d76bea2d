"""Measures how fast an overdue backlog goes out by the driver's lanes and by Spark's executors.

``python -m bench.executors``: each round hands over so many claims and waits until all are out.
Both rates are also given as a share of the raw transactional rate of the same run.
"""

import argparse
import os
import platform
import statistics
import tempfile
import time
from typing import NamedTuple

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

CACHE = "DUESTREAM_CACHE"


class Way(NamedTuple):
    """How messages go out, and how many a second did in each round."""

    name: str
    rates: list[float]


def main() -> None:
    """Start a broker and a session of Spark, measure, and print one table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=100_000, help="messages overdue in a round")
    options.add_argument("--rounds", type=int, default=3, help="rounds that are measured")
    options.add_argument("--lanes", type=int, default=2)
    options.add_argument("--master", default="local[2]", help="of Spark: local[2], spark://...")
    given = options.parse_args()
    for name in [each for each in os.environ if each.startswith("DUESTREAM_") and each != CACHE]:
        del os.environ[name]
    with tempfile.TemporaryDirectory(prefix="duestream-bench-") as folder, LocalKafka() as broker:
        spark = spark_session("bench", given.master, {"spark.sql.warehouse.dir": folder})
        ways = _measure(broker, spark, given)
        spark.stop()
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    about = f"{given.count:,} overdue, {given.lanes} lanes, Spark on {given.master}"
    Console(width=100).print(f"{machine}; {about}", _table(ways))


def _measure(broker: LocalKafka, spark: SparkSession, given: argparse.Namespace) -> list[Way]:
    servers = broker.bootstrap_servers
    broker.create_topics(["raw.out", "in", "out"], partitions=4)
    ways = [Way("raw transactions", []), Way("driver's lanes", []), Way("executors", [])]
    outboxes = [
        _outbox(_settings(servers, f"bench-{n}", given.lanes, above), spark)
        for n, above in enumerate((None, 0))
    ]
    for number in range(given.rounds + 1):  # the first warms up
        rates = [raw_rate(servers, "raw.out")["rate"]]
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
