"""The baseline: a scheduler that MERGEs into one Delta table in every tick.

``python -m bench.naive --pending 1000000 --seconds 60`` prints one table. bench.naive_job is that
scheduler, a process of its own. There are two phases, half of the time each, with ``pending`` rows
far ahead:

- *bounded*: a thousand events a tick. The next thousand, due at once, are sent when a tick begins,
  so there is always one batch to take, and ticks follow back to back.
- *unbounded*: events due at once come at a steady 10,000 a second; a tick takes what came.

Then duestream's own state, as many pending and as many a tick (bench.naive_ours). The ratio is of
the same work on both sides: put a thousand new keys, find them due, publish them with a plain
producer, mark them as done. On the naive side that leaves out the micro-batch around it and the
reading from Kafka, which ``messages_per_second`` includes; on ours there are none.
"""

import argparse
import itertools
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.events import read
from bench.naive_feed import BATCH, BOUNDED, INPUT, OUTPUT, UNBOUNDED, WARM, Feeding, ticks_of
from bench.naive_ours import serve_ours
from pipeline.leashed import Leashed
from pipeline.local_kafka import LocalKafka
from tests.reading import read_committed

OURS = "naive.ours"
_WORK = ("merge", "select", "publish", "mark")
_APPEND_TIME = {"message.timestamp.type": "LogAppendTime"}
_OURS_SECONDS = 15.0


def run_naive(broker: LocalKafka, folder: Path, pending: int, seconds: float, seed: int) -> dict:
    """Measure both in one run; ``seed`` only names it, as nothing here is left to chance."""
    folder.mkdir(parents=True, exist_ok=True)
    broker.create_topics([INPUT, OUTPUT, OURS], 2, _APPEND_TIME)
    servers = broker.bootstrap_servers
    spans = _run_job(servers, folder, pending, seconds / 2)
    late = _lateness(servers, spans)
    ours = serve_ours(servers, OURS, folder, pending, min(seconds / 2, _OURS_SECONDS), BATCH)
    measured = _report(ticks_of(folder, BOUNDED), ticks_of(folder, UNBOUNDED), ours)
    return {"pending": pending, "batch": BATCH, "seed": seed} | measured | late


def _run_job(servers: str, folder: Path, pending: int, seconds: float) -> dict[str, range]:
    """Run both phases; return the numbers of the events that count in each."""
    plan = {
        "servers": servers,
        "input": INPUT,
        "output": OUTPUT,
        "folder": str(folder),
        "told": str(folder / "ticks.jsonl"),
        "pending": pending,
        "batch": BATCH,
    }
    (folder / "plan.json").write_text(json.dumps(plan))
    command = [sys.executable, "-m", "bench.naive_job", str(folder / "plan.json")]
    job = Leashed(command, folder / "job.log")
    try:
        feeding = Feeding(servers, folder, job, first=pending)
        bounded = feeding.a_batch_a_tick(seconds)
        return {BOUNDED: bounded, UNBOUNDED: feeding.steadily(seconds)}
    finally:
        job.end("kill")


def _lateness(servers: str, spans: dict[str, range]) -> dict[str, dict[str, float]]:
    """Return append time minus due instant of the messages of each phase, in milliseconds."""
    late: dict[str, list[int]] = {phase: [] for phase in spans}
    for message in read_committed(servers, OUTPUT):
        number, due = read(message.value())
        for phase, span in spans.items():
            if number in span:
                late[phase].append(message.timestamp()[1] - due)
    names = {"late_ms": late[BOUNDED], "late_ms_unbounded": late[UNBOUNDED]}
    return {name: _percentiles(np.array(times or [0]), 50, 99) for name, times in names.items()}


def _report(bounded: list[dict], unbounded: list[dict], ours: list[float]) -> dict:
    warm, ticks = bounded[WARM:], _from_end_to_end(bounded[WARM - 1 :])
    work = [sum(tick[part] for part in _WORK) for tick in warm]
    sizes = [tick["published"] for tick in unbounded[1:]]  # the first has the little there was
    rate_of_work, rate_of_ours = (BATCH * len(each) / sum(each) for each in (work, ours))
    parts = {p: float(np.median([t[p] for t in warm])) * 1000 for p in ("read", *_WORK)}
    return {
        "messages_per_second": sum(t["published"] for t in warm) / sum(ticks),
        "messages_per_second_of_work": rate_of_work,
        "messages_per_second_unbounded": sum(sizes) / sum(_from_end_to_end(unbounded)),
        "largest_batch_unbounded": max(sizes),
        "ticks": len(ticks),
        "tick_ms": _percentiles(np.array(ticks) * 1000, 50, 95),
        "parts_ms": parts,
        "ours_messages_per_second": rate_of_ours,
        "ours_tick_ms": _percentiles(np.array(ours) * 1000, 50, 95),
        "ratio": rate_of_ours / rate_of_work,
    }


def _from_end_to_end(ticks: list[dict]) -> list[float]:
    return [after["ended"] - before["ended"] for before, after in itertools.pairwise(ticks)]


def _percentiles(values: np.ndarray, *wanted: int) -> dict[str, float]:
    return {f"p{q}": float(np.percentile(values, q)) for q in wanted}


def _table(m: dict) -> Table:
    table = Table(f"{m['pending']:,} pending, {BATCH:,} a tick", "MERGE per tick", "our state")
    rates = (m["messages_per_second_of_work"], m["ours_messages_per_second"])
    table.add_row("messages/s, put to done", *(f"{rate:,.0f}" for rate in rates))
    table.add_row("  with the micro-batch and Kafka", f"{m['messages_per_second']:,.0f}", "")
    table.add_row("  whatever came in a batch", f"{m['messages_per_second_unbounded']:,.0f}", "")
    for q in ("p50", "p95"):
        times = (m["tick_ms"][q], m["ours_tick_ms"][q])
        table.add_row(f"tick {q}, ms", *(f"{ms:,.0f}" for ms in times))
    for part, ms in m["parts_ms"].items():
        table.add_row(f"  {part}, ms", f"{ms:,.0f}", "")
    for q in ("p50", "p99"):
        table.add_row(f"lateness {q}, ms", f"{m['late_ms'][q]:,.0f}", "")
    table.add_row("ratio", "1", f"{m['ratio']:,.0f}")
    return table


def main() -> None:
    """Run as the arguments say and print the table."""
    options = argparse.ArgumentParser(prog="python -m bench.naive", description=__doc__)
    options.add_argument("--pending", type=int, default=1_000_000)
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--seed", type=int, default=7)
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="duestream-naive-") as folder, LocalKafka() as broker:
        measured = run_naive(broker, Path(folder), given.pending, given.seconds, given.seed)
    Console(width=100).print(_table(measured))


if __name__ == "__main__":
    main()
