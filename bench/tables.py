"""The tables of the page and of the terminal, from the figures there are."""

from collections.abc import Iterator
from typing import Any

from rich.table import Table

from bench.bars import BARS, FAULTS, FLOOD, PEERS
from bench.measuring import STAGES
from bench.results import Results
from bench.sheet import NONE, Sheet, number, share
from bench.verdicts import against, judged, stores_in, verdict

Run = dict[str, Any]
_WAYS = {
    "driver": "by the driver's lanes",
    "executors": "by two executors of one core, a lane each",
    "raw": "raw transactions, one producer",
}


def sheets(results: Results) -> dict[str, Sheet]:
    """Return all tables by the names that the page has for them."""
    return {
        "bars": judged(results, BARS, "bound", verdict),
        "peers": judged(results, PEERS, "theirs", against),
        "lateness": _lateness(results),
        "rates": _rates(results),
        "naive": _naive(results),
        "executors": _executors(results),
        "restarts": _restarts(results),
        "sizes": _sizes(results),
        "costs": _costs(results),
        "stages": _stages(results),
        "folds": _folds(results),
    }


def terminal(results: Results) -> Iterator[Table]:
    """Return the tables that a run ends with."""
    for sheet in sheets(results).values():
        if sheet.rows:
            yield sheet.terminal()


def _runs(results: Results, field: str) -> Iterator[tuple[str, Run]]:
    """Return the scenarios that have a figure, with the store in their name if there are two."""
    stores = stores_in(results)
    for store in stores:
        for name, run in results.scenarios(store).items():
            if field in run:
                yield (name if len(stores) == 1 else f"{name} ({store})"), run


def _lateness(results: Results) -> Sheet:
    quantiles = ("p50", "p95", "p99", "p99.9", "max")
    rows = [
        [
            name,
            number(run["messages"]),
            " / ".join(str(run[fault]) for fault in FAULTS),
            *(number(run["late_ms"][q]) for q in quantiles),
        ]
        for name, run in _runs(results, "late_ms")
    ]
    faults = " / ".join(FAULTS)
    return Sheet(["", "messages", faults, *(f"{q}, ms" for q in quantiles)], rows)


def _rates(results: Results) -> Sheet:
    rows = []
    for field in ("publish_rate", "messages_per_second"):
        for name, run in _runs(results, field):
            of_raw = share(run["of_raw"], 1) if "of_raw" in run else NONE
            raw = number(run[field] / run["of_raw"]) if run.get("of_raw") else NONE
            rows.append([name, number(run[field]), of_raw, raw])
    return Sheet(["", "messages a second", "of the raw rate", "which was"], rows)


def _naive(results: Results) -> Sheet:
    rows = []
    for _, run in _runs(results, "naive"):
        told = run["naive"]
        whole = results.scenarios("delta").get(FLOOD, {}).get("messages_per_second")
        alone = told.get("ours_messages_per_second")
        named = (
            ("a MERGE for each tick, 1,000 messages a tick", "messages_per_second", whole),
            ("… whatever came since the last tick", "messages_per_second_unbounded", whole),
            (
                "… 1,000 a tick, without reading and the micro-batch",
                "messages_per_second_of_work",
                alone,
            ),
        )
        rows += [
            [name, number(told[field]), number(ours), number(ours / told[field]) if ours else NONE]
            for name, field, ours in named
            if field in told
        ]
    return Sheet(["", "messages a second", "ours", "times"], rows)


def _executors(results: Results) -> Sheet:
    rows = []
    for _, run in _runs(results, "executors"):
        rates = run["executors"]
        rows += [
            [told, number(rates[way]), share(rates[way] / rates["raw"])]
            for way, told in _WAYS.items()
        ]
    return Sheet(["", "messages a second", "of the raw rate"], rows)


def _restarts(results: Results) -> Sheet:
    fields = (
        "spark_seconds",
        "ready_seconds",
        "first_out_seconds",
        "first_out_after_spark_seconds",
    )
    rows = [
        [name, *(number(run.get(field)) for field in fields)]
        for name, run in _runs(results, "spark_seconds")
    ]
    head = [
        "",
        "Spark is there, s",
        "first tick done, s",
        "first message out, s",
        "… after Spark, s",
    ]
    return Sheet(head, rows)


def _sizes(results: Results) -> Sheet:
    rows = [
        [
            name,
            number(run["pending"]),
            *(number(run["tick_ms"][q]) for q in ("p50", "p95")),
            number(run["late_ms"]["p99"]),
            *(number(run["peak_mb"].get(part)) for part in ("job", "python", "jvm", "fold")),
            number(run.get("bytes_per_pending")),
            number(run.get("made_in_seconds")),
        ]
        for name, run in _runs(results, "late_ms")
        if run["rate"] == 1000 and "tick_ms" in run
    ]
    memory = (f"{part}, MB" for part in ("job", "Python", "JVM", "fold"))
    head = ["", "pending", "tick p50, ms", "p95", "lateness p99, ms", *memory, "bytes on disk each"]
    return Sheet([*head, "state made in, s"], rows)


def _costs(results: Results) -> Sheet:
    rows = []
    for name, run in _runs(results, "cores"):
        cpu, cores, peak = run.get("cpu_per_million", {}), run["cores"], run["peak_mb"]
        figures = [each.get(part) for each in (cpu, cores) for part in ("job", "broker", "mongo")]
        figures += [peak.get(part) for part in ("python", "jvm", "fold", "broker", "mongo")]
        rows.append([name, *map(number, figures)])
    head = ["", "CPU s by the million", "broker's", "MongoDB's"]
    head += ["cores busy", "broker's", "MongoDB's"]
    return Sheet([*head, "Python, MB", "JVM, MB", "fold, MB", "broker, MB", "MongoDB, MB"], rows)


def _stages(results: Results) -> Sheet:
    rows = [
        [
            name,
            number(run["ticks"]),
            *(number(run["tick_ms"][q]) for q in ("p50", "p95")),
            *(number(run["stage_ms"][stage]) for stage in STAGES),
        ]
        for name, run in _runs(results, "stage_ms")
    ]
    return Sheet(["", "ticks", "p50, ms", "p95", *STAGES], rows)


def _folds(results: Results) -> Sheet:
    rows = [
        [
            name,
            number(run["folds"]),
            *(number(run["during_fold"][q]) for q in ("messages", "p50", "p99", "max")),
            *(number(run.get("without_fold", {}).get(q)) for q in ("p50", "p99", "max")),
        ]
        for name, run in _runs(results, "during_fold")
    ]
    head = ["", "folds", "messages meanwhile", "p50, ms", "p99", "max"]
    return Sheet([*head, "without: p50, ms", "p99", "max"], rows)
