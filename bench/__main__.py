"""Runs the benchmark and prints its tables: ``make bench``, ``make bench STORE=mongo``."""

import argparse
import os
import platform
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.compare import compare
from bench.plot import draw
from bench.raw import raw_rate
from bench.scenarios import Bench
from pipeline.local_kafka import LocalKafka

CACHE = "DUESTREAM_CACHE"
PICTURE = Path("build/lateness.png")

console = Console(width=110)


def main() -> None:
    """Run all scenarios on one broker, one after the other."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pending", type=int, default=1_000_000, help="the large number pending")
    options.add_argument("--seconds", type=int, default=40, help="length of a steady run")
    options.add_argument(
        "--store",
        choices=["delta", "mongo"],
        default="delta",
        help="mongo: compare the state in MongoDB with that in Delta tables",
    )
    given = options.parse_args()
    for name in [each for each in os.environ if each.startswith("DUESTREAM_") and each != CACHE]:
        del os.environ[name]  # a setting of the shell would be measured too
    with tempfile.TemporaryDirectory(prefix="duestream-bench-") as folder, LocalKafka() as broker:
        if given.store == "mongo":
            compare(Bench(broker, Path(folder)), given.pending, given.seconds, console)
            return
        measured = _run(Bench(broker, Path(folder)), given.pending, given.seconds)
    _print(measured, given.pending)


def _run(bench: Bench, pending: int, seconds: int) -> dict:
    bench.broker.create_topics(["raw.out"], partitions=4)
    servers = bench.broker.bootstrap_servers
    return {
        "raw": _told("raw transactional produce rate", lambda: raw_rate(servers, "raw.out")),
        "idle": _told("idle job", bench.idle),
        "burst": _told("100,000 due in one second", bench.burst),
        "drain": _told("200,000 overdue when the job starts", bench.drain),
        "few": _told(
            "1,000/s with 10,000 pending", lambda: bench.steady("few", seconds, pending=10_000)
        ),
        "fast": _told(
            "5,000/s with 10,000 pending",
            lambda: bench.steady("fast", seconds, rate=5000, pending=10_000),
        ),
        "many": _told(
            f"1,000/s with {pending:,} pending",
            lambda: bench.steady("many", seconds, pending=pending, keeping=True),
        ),
    }


def _told(name: str, measure: Callable[[], Any]) -> Any:
    """Say what is measured, and what came of it, as it goes."""
    console.print(f"{name} ...")
    result = measure()
    console.print({name: value for name, value in result.items() if name != "by_second"})
    return result


def _print(m: dict, pending: int) -> None:
    console.print(
        f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}; "
        f"raw transactional produce rate {m['raw']['rate']:,.0f}/s"
    )
    steady = {
        "1,000/s, 10 k pending": m["few"],
        "5,000/s, 10 k pending": m["fast"],
        f"1,000/s, {pending:,} pending": m["many"],
    }
    at_once = {"burst of 100,000": m["burst"], "200,000 overdue": m["drain"]}
    console.print(_steady(steady))
    console.print(_at_once(at_once, m["raw"]["rate"]))
    ratio = m["many"]["tick_ms"]["p50"] / m["few"]["tick_ms"]["p50"]
    console.print(f"tick p50 at {pending:,} pending / at 10,000 pending: {ratio:.2f}")
    keeping = m["many"]["keeping_tick_ms"]["p50"] / m["many"]["tick_ms"]["p50"]
    console.print(
        f"tick p50 of events with a policy for their key / of plain ones, at {pending:,} pending: "
        f"{keeping:.2f}"
    )
    console.print(f"idle job: {m['idle']['core_share']:.1%} of one core")
    console.print(f"lateness over time: {draw(steady, PICTURE)}")


def _steady(runs: dict[str, dict]) -> Table:
    table = Table("steady, known 10 to 30 s ahead", *runs)
    table.add_row("lost / twice / early", *map(_faults, runs.values()))
    for q in ("p50", "p95", "p99", "p99.9"):
        table.add_row(f"lateness {q}, ms", *(f"{r['late_ms'][q]:.0f}" for r in runs.values()))
    table.add_row("lateness max, ms", *(f"{r['late_max_ms']:.0f}" for r in runs.values()))
    for q in ("p50", "p95"):
        table.add_row(f"tick {q}, ms", *(f"{r['tick_ms'][q]:.0f}" for r in runs.values()))
    rows = {
        "ingest rate while loading, /s": "ingest_rate",
        "not yet taken at the end": "lag_at_end",
    }
    for name, field in rows.items():
        table.add_row(name, *(f"{r[field]:,.0f}" for r in runs.values()))
    return table


def _at_once(runs: dict[str, dict], raw: float) -> Table:
    table = Table("all at once", *runs)
    table.add_row("lost / twice / early", *map(_faults, runs.values()))
    table.add_row("publish rate, /s", *(f"{r['publish_rate']:,.0f}" for r in runs.values()))
    shares = (f"{r['publish_rate'] / raw:.0%}" for r in runs.values())
    table.add_row("  as a share of the raw rate", *shares)
    return table


def _faults(run: dict) -> str:
    return f"{run['lost']} / {run['twice']} / {run['early']}"


if __name__ == "__main__":
    main()
