"""Measures what a console asks, at 10,000 and at 1,000,000 pending: ``python -m bench.pages``."""

import argparse
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.job import state_settings
from bench.made_state import MadeState
from bench.questions import QUESTIONS, Question
from bench.store import NOW, Load
from pipeline.local_mongo import LocalMongo
from pipeline.mongo_engine import licence
from state.copying import copy
from state.inspect import Inspector
from state.open import open_store, open_target, open_watcher
from state.settings import StateSettings

FEW = 10_000
ROUNDS = 7
BAR = 3.0

console = Console(width=110)
Times = tuple[float, float]  # ms: right after a commit, and asked again


def main() -> None:
    """Measure one store or both."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--store", choices=["delta", "mongo", "both"], default="both")
    options.add_argument("--rows", type=int, default=1_000_000, help="the large number pending")
    given = options.parse_args()
    stores = ["delta", "mongo"] if given.store == "both" else [given.store]
    console.print(
        f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    )
    with tempfile.TemporaryDirectory(prefix="duestream-bench-") as folder:
        for store in stores:
            console.print(_compared(store, Path(folder), given.rows))


def _compared(store: str, folder: Path, rows: int) -> Table:
    if store == "delta":
        return _table(store, rows, _measured(folder, None, rows))
    console.print(f"{licence('embedded')}.")
    with LocalMongo(folder / "mongo") as server:
        return _table(store, rows, _measured(folder, server.uri, rows))


def _measured(folder: Path, mongo: str | None, rows: int) -> dict[str, list[Times]]:
    """Ask both states in turns, so that what else the machine does falls on both."""
    watched = [Watched(_made(folder, mongo, size), size) for size in (FEW, rows)]
    measured = {}
    for name, question in QUESTIONS.items():
        rounds = [[each.times(question) for each in watched] for _ in range(ROUNDS)]
        measured[name] = [_medians(times) for times in zip(*rounds, strict=True)]
    for each in watched:
        each.store.close()
    return measured


class Watched:
    """A state, the job that writes it, and the process that watches it."""

    def __init__(self, settings: StateSettings, size: int) -> None:
        self.store, self._inspector = open_store(settings), open_watcher(settings)
        self._load = Load(self.store, first=3 * size)
        self._load.live()
        begun = time.monotonic()
        self._inspector.stats(NOW)
        getattr(self._inspector, "wait", lambda: None)()
        console.print(f"  ready after {time.monotonic() - begun:.1f} s")

    def times(self, question: Question) -> Times:
        """Return how long a question takes right after a commit, and when it is asked again."""
        self._load.live()
        return _timed(question, self._inspector), _timed(question, self._inspector)


def _timed(question: Question, inspector: Inspector) -> float:
    begun = time.perf_counter()
    question(inspector)
    return (time.perf_counter() - begun) * 1000


def _medians(times: Sequence[Times]) -> Times:
    first, again = (statistics.median(each) for each in zip(*times, strict=True))
    return first, again


def _made(folder: Path, mongo: str | None, rows: int) -> StateSettings:
    named = state_settings(f"pages-{rows}", folder / f"pages-{rows}", mongo)
    settings = StateSettings.model_validate(named)
    begun = time.monotonic()
    target = open_target(settings, NOW)
    copy(MadeState(rows), target, NOW, lambda done, total: None)
    target.close()
    spent = time.monotonic() - begun
    console.print(f"{settings.kind}: {rows:,} pending and {rows:,} closed, made in {spent:.0f} s")
    return settings


def _table(store: str, rows: int, measured: dict[str, list[Times]]) -> Table:
    named = ("ms at 10 k", f"ms at {rows:,}", "ratio", f"<= {BAR:.0f}", "asked again")
    table = Table(f"{store}, right after a commit", *named)
    for name, ((quick, quick_again), (slow, again)) in measured.items():
        ratio = slow / quick
        held = "yes" if ratio <= BAR else "no"
        both = f"{quick_again:.1f} / {again:.1f}"
        table.add_row(name, f"{quick:.1f}", f"{slow:.1f}", f"{ratio:.1f}", held, both)
    return table


if __name__ == "__main__":
    main()
