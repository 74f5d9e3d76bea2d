"""A model on paper: what limits one job at 10, 100 and 1,000 times the rate and the pending rows.

``python -m bench.capacity`` prints its tables in Markdown; ``--write`` puts them into
docs/explanation/capacity.md, with the figures they were made from. ``--results`` names a file of
results of the benchmark; what it does not have is taken from docs/architecture.md.

Nothing here is measured. Each part of a job is given the share of its limit that a load takes, the
shares are linear in the load, and parts are taken one by one, as if the others cost nothing.
"""

import argparse
import json
import re
import statistics
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "explanation" / "capacity.md"
RESULTS = ROOT / "docs" / "assets" / "bench" / "results.json"
BEGIN, END = "<!-- made by bench/capacity.py from {} -->", "<!-- end -->"
SCALES = (1, 10, 100, 1_000)


@dataclass(frozen=True, slots=True)
class Figures:
    """What is taken as known: of two cores and one broker, unless a line says otherwise."""

    rate: float = 1_000  # today's load: messages a second
    pending: float = 1_000_000
    full_rate: float = 5_000  # at which two cores are all but full, broker and observer included
    raw_rate: float = 120_000  # messages a second of a transactional producer with nothing around
    publish_rate: float = 57_000  # messages a second when a backlog drains, through one driver
    decode_rate: float = 430_000  # records a second decoded on two cores
    handover_rate: float = 100_000  # messages a second through the driver as Arrow
    line_us: float = 5  # to commit one line of the changelog; a message has three
    transaction_ms: float = 10  # to publish one transaction with its marker, small ones
    rest_ms: float = 10  # a lane's rest between two
    lanes: float = 2
    most_lanes: float = 64
    window_rows: float = 500_000  # state.delta.window_rows
    claim_limit: float = 200_000  # publish.claim_limit, in a tick of a second
    batch_limit: float = 100_000  # pipeline.max_offsets_per_trigger, in a tick of a second
    outbox_limit: float = 200_000  # publish.outbox_limit
    lookahead: float = 4  # publish.lookahead_min, in seconds
    fold_lines_per_second: float = 45_000  # of the changelog, that a fold works out
    fold_rows_per_second: float = 200_000  # rows of schedules that it reads or writes in a second
    fold_seconds: float = 300  # state.delta.fold_age: a fold must take less, or it falls behind
    row_bytes: float = 300  # a pending message with 200 bytes of payload, on disk
    key_index_bytes: float = 117  # a pending row in the index of keys, if policies ask for keys
    mongo_insert_ms: float = 0.07
    mongo_change_ms: float = (
        0.07  # a row changed in one statement with many others; twice a message
    )
    partition_rate: float = 50_000  # records a second of one partition, a cautious figure


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a job at one load: the share of its limit, and what helps when that is over 1."""

    name: str
    share: float
    remedy: str


def parts(f: Figures, scale: float) -> list[Part]:
    """Return what each part has to do at ``scale`` times the load, as a share of what it can."""
    rate, pending = f.rate * scale, f.pending * scale
    lane_rate = f.raw_rate  # a lane is one producer; its transactions grow with the load
    window_seconds = f.window_rows / rate
    changed = 3 * rate * f.fold_seconds  # lines since the last fold
    hour = min(rate * 3_600, pending)  # rows in the files that a fold writes anew: the next hour's
    return [
        Part("two cores for all of it", rate / f.full_rate, "cores, and brokers elsewhere; then "
             "the parts below, one by one"),
        Part("decode, on the executors", rate / f.decode_rate, "more executor cores, more "
             "`pipeline.decode_tasks`: linear"),
        Part("records in a batch", rate / f.batch_limit, "`pipeline.max_offsets_per_trigger` up, "
             "as far as the driver's memory goes"),
        Part("hand-over to the driver", rate / f.handover_rate, "several jobs, each with its input "
             "topics and a state of its own"),
        Part("commit of a tick", rate * 3 * f.line_us / 1e6, "several jobs; `state.delta.writer: "
             "spark` writes from executors, a second a commit"),
        Part("near window", f.lookahead / window_seconds, "`state.delta.window_rows` up: what is "
             "claimed ahead must fit"),
        Part("claims in a tick", rate / f.claim_limit, "`publish.claim_limit` up, as far as the "
             "driver's memory goes"),
        Part("outbox", f.lookahead * rate / f.outbox_limit, "`publish.outbox_limit` up, as far as "
             "the driver's memory goes, or `publish.lookahead_min` down"),
        Part("publishing from the driver", rate / f.publish_rate, "publishing from executors, a "
             "lane a task; or several jobs"),
        Part("lanes", rate / (lane_rate * f.most_lanes), "none needed before the brokers are full"),
        Part("brokers, transactions", rate / f.raw_rate, "more brokers and output partitions"),
        Part("one input partition", rate / f.partition_rate, "partitions: as many as the share, "
             "rounded up"),
        Part("fold", (changed / f.fold_lines_per_second + 2 * hour / f.fold_rows_per_second)
             / f.fold_seconds,
             "several jobs; finer buckets than an hour would cut it most"),
        Part("MongoDB instead, one server",
             rate * (f.mongo_insert_ms + 2 * f.mongo_change_ms) / 1_000,
             "a sharded cluster, `state.mongo.writer: spark`"),
    ]  # fmt: skip


def sizes(f: Figures, scale: float) -> dict[str, str]:
    """Return what a load takes up, beside its rates."""
    rate, pending = f.rate * scale, f.pending * scale
    window = min(60 * rate, f.window_rows)
    per_transaction = rate / f.lanes * (f.transaction_ms + f.rest_ms) / 1_000
    return {
        "messages a second": f"{rate:,.0f}",
        "pending": f"{pending:,.0f}",
        "pending on disk": _bytes(pending * f.row_bytes),
        "index of keys, if policies ask": _bytes(pending * f.key_index_bytes),
        "rows in the near window": f"{window:,.0f}",
        "which is ahead by": f"{window / rate:,.1f} s",
        "messages in a transaction, two lanes": f"{per_transaction:,.0f}",
        "new on disk in a day, before it is purged": _bytes(rate * 86_400 * f.row_bytes),
    }


def markdown(f: Figures) -> str:
    """Return the tables."""
    heads = "| | " + " | ".join(f"{scale:,} times" for scale in SCALES) + " |"
    rule = "|---|" + "---:|" * len(SCALES)
    by_scale = [parts(f, scale) for scale in SCALES]
    shares = zip(*by_scale, strict=True)
    taken = [sizes(f, scale) for scale in SCALES]
    first = [max(each[1:-1], key=lambda part: part.share) for each in by_scale]
    lines = [
        heads,
        rule,
        *(f"| {name} | " + " | ".join(each[name] for each in taken) + " |" for name in taken[0]),
        "",
        "The share of its limit that each part takes; above 1 it does not fit:",
        "",
        heads.removesuffix("|") + "| what helps |",
        rule + "---|",
        *(
            f"| {row[0].name} | " + " | ".join(map(_share, row)) + f" | {row[0].remedy} |"
            for row in shares
        ),
        "",
        *(f"- At {n:,} times {_first(part)}" for n, part in zip(SCALES, first, strict=True)),
    ]
    return "\n".join(lines)


def figures_from(results: Mapping[str, Any]) -> Figures:
    """Return the figures with those that a benchmark has measured."""
    delta = results.get("scenarios", {}).get("delta", {})
    raw = [each["per_second"] for each in results.get("raw", {}).values()]
    found = {
        "raw_rate": round(statistics.mean(raw)) if raw else None,
        "publish_rate": delta.get("200,000 overdue at start", {}).get("publish_rate"),
    }
    return replace(Figures(), **{name: value for name, value in found.items() if value})


def written(f: Figures) -> str:
    """Return the part of the page that is made here, and says from which figures."""
    known = {name: value for name, value in asdict(f).items() if value != getattr(Figures(), name)}
    return f"{BEGIN.format(json.dumps(known))}\n\n{markdown(f)}\n\n{END}"


def read_figures(page: str) -> Figures:
    """Return the figures that a page says it was made from."""
    said = re.search(BEGIN.format("(.*)"), page)
    known = json.loads(said[1]) if said else {}
    return replace(Figures(), **{n: v for n, v in known.items() if n in _NAMES})


_NAMES = {each.name for each in fields(Figures)}


def _share(part: Part) -> str:
    text = _number(part.share)
    return f"**{text}**" if part.share > 1 else text


def _number(share: float) -> str:
    return f"{share:,.2f}" if share < 10 else f"{share:,.0f}"


def _first(part: Part) -> str:
    verb = "is the first that does not fit" if part.share > 1 else "is the fullest"
    return f"*{part.name}* {verb}, with cores enough: {_number(part.share)} of its limit."


def _bytes(count: float) -> str:
    for unit in ("kB", "MB", "GB"):
        count /= 1_000
        if count < 1_000:
            return f"{count:,.0f} {unit}"
    return f"{count / 1_000:,.1f} TB"


def main() -> None:
    """Print the tables, or write them into the page."""
    options = argparse.ArgumentParser(prog="python -m bench.capacity", description=__doc__)
    options.add_argument("--results", type=Path, default=RESULTS)
    options.add_argument("--write", action="store_true", help="put them into the page")
    given = options.parse_args()
    results = json.loads(given.results.read_text()) if given.results.exists() else {}
    figures = figures_from(results)
    if not given.write:
        sys.stdout.write(f"{markdown(figures)}\n")
        return
    page = PAGE.read_text()
    made = re.compile(rf"{BEGIN.format('.*')}.*?{END}", re.S)
    PAGE.write_text(made.sub(lambda _: written(figures), page))


if __name__ == "__main__":
    main()
