"""Measures what it costs to ask what is pending of 1,000 keys: ``python -m bench.keys``."""

import argparse
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.store import NOW, Load
from state.delta.key_index import folder_of
from state.delta.tables import tables_of
from state.open import open_store
from state.settings import DeltaSettings, StateSettings

ASKED = 1_000
ROUNDS = 9


def main() -> None:
    """Fill a state in Delta tables, fold it, and ask; half of the keys are not there."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pending", type=int, default=1_000_000)
    pending = options.parse_args().pending
    with tempfile.TemporaryDirectory(prefix="duestream-bench-") as folder:
        table = _measure(Path(folder), pending)
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    Console(width=100).print(f"{machine}; {pending:,} pending", table)


def _measure(folder: Path, pending: int) -> Table:
    settings = StateSettings(delta=DeltaSettings(path=str(folder / "state"), fold_rows=10**9))
    store, tables = open_store(settings), tables_of(settings.delta)
    load = Load(store)
    load.fill(pending)
    load.claim_time()
    store.fold(NOW)
    step = max(1, pending // (ASKED // 2))
    there = [b"in\0key-%d" % n for n in range(0, pending, step)][: ASKED // 2]
    keys = there + [b"in\0nobody-%d" % n for n in range(ASKED // 2)]

    def ask(whole: bool) -> int:
        return store.pending(keys, whole).num_rows

    result = Table("asked for 1,000 keys, half of them there", "ms")
    first, _ = _timed(lambda: ask(False), 1)
    result.add_row("the first time, without an index", f"{first:.0f}")
    made, _ = _timed(store._keys.wait, 1)
    for name, whole in (("with the index", False), ("with the index, whole rows", True)):
        took, found = _timed(lambda whole=whole: ask(whole), ROUNDS)
        if found != len(there):
            raise SystemExit(f"{found} rows were found instead of {len(there)}")
        result.add_row(name, f"{took:.1f}")
    size = sum(path.stat().st_size for path in folder_of(tables).iterdir()) / 1_000_000
    result.add_row(f"making the index ({size:.0f} MB), in the background", f"{made:.0f}")
    store.close()
    return result


def _timed(work: Callable[[], int | None], rounds: int) -> tuple[float, int | None]:
    times, answer = [], None
    for _ in range(rounds):
        begun = time.monotonic()
        answer = work()
        times.append((time.monotonic() - begun) * 1000)
    return statistics.median(times), answer


if __name__ == "__main__":
    main()
