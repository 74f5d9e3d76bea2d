"""Measures both stores the same way, and prints them side by side."""

from dataclasses import replace
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.raw import raw_rate
from bench.scenarios import Bench
from bench.store import measure_store
from pipeline.local_mongo import LocalMongo
from pipeline.mongo_engine import licence

KINDS = ("delta", "mongo")


def compare(bench: Bench, pending: int, seconds: int, console: Console) -> None:
    """Measure the stores by themselves, then under the job."""
    servers = bench.broker.bootstrap_servers
    bench.broker.create_topics(["raw.out"], partitions=4)
    console.print(f"{licence('embedded')}.")
    with LocalMongo(bench.folder / "mongo") as server:
        raw = raw_rate(servers, "raw.out")["rate"]
        console.print(f"raw transactional produce rate {raw:,.0f}/s")
        measured = {
            kind: _measure(replace(bench, mongo=uri), kind, pending, seconds, console)
            for kind, uri in zip(KINDS, (None, server.uri), strict=True)
        }
    console.print(_table(measured, raw))


def _measure(bench: Bench, kind: str, pending: int, seconds: int, console: Console) -> dict:
    console.print(f"{kind}: the store by itself, up to {pending:,} pending ...")
    alone = measure_store(bench.folder / f"store-{kind}", bench.mongo, pending)
    console.print(alone)
    console.print(f"{kind}: 1,000/s with 10,000 pending ...")
    steady = bench.steady("compare", seconds, pending=10_000)
    steady.pop("by_second", None)
    console.print(steady)
    console.print(f"{kind}: 200,000 overdue when the job starts ...")
    drain = bench.drain()
    drain.pop("by_second", None)
    console.print(drain)
    return {"alone": alone, "steady": steady, "drain": drain}


def _table(measured: dict[str, dict[str, Any]], raw: float) -> Table:
    table = Table("", *measured)
    runs = list(measured.values())
    table.add_row("the store by itself")
    table.add_row("  upserts, /s", *(f"{r['alone']['upserts']:,.0f}" for r in runs))
    for count in runs[0]["alone"]["claim_ms"]:
        times = (f"{r['alone']['claim_ms'][count]:.0f}" for r in runs)
        table.add_row(f"  find and claim 1,000 due of {count:,} pending, ms", *times)
    ratios = (f"{_ratio(r['alone']['claim_ms']):.2f}" for r in runs)
    table.add_row("  the last / the first", *ratios)
    table.add_row("under the job, 1,000/s, known 10 to 30 s ahead")
    for name in ("steady", "drain"):
        faults = (f"{r[name]['lost']} / {r[name]['twice']} / {r[name]['early']}" for r in runs)
        table.add_row(f"  lost / twice / early ({name})", *faults)
    for q in ("p50", "p99"):
        table.add_row(f"  lateness {q}, ms", *(f"{r['steady']['late_ms'][q]:.0f}" for r in runs))
    for q in ("p50", "p95"):
        table.add_row(f"  tick {q}, ms", *(f"{r['steady']['tick_ms'][q]:.0f}" for r in runs))
    rates = [r["drain"]["publish_rate"] for r in runs]
    table.add_row("drain of 200,000 overdue, /s", *(f"{rate:,.0f}" for rate in rates))
    table.add_row("  as a share of the raw rate", *(f"{rate / raw:.0%}" for rate in rates))
    return table


def _ratio(times: dict[int, float]) -> float:
    first, *_, last = times.values()
    return last / first
