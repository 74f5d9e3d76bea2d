"""Measures a store by itself: how quickly it takes schedules, and what finding due ones costs.

``python -m bench.store`` prints both stores side by side.
"""

import argparse
import statistics
import tempfile
import time
import zlib
from pathlib import Path

import pyarrow as pa
from rich.console import Console
from rich.table import Table

from bench.job import state_settings
from pipeline.local_mongo import LocalMongo
from pipeline.mongo_engine import licence
from state.claims import Room
from state.columns import reshape
from state.open import open_store
from state.row import COMMANDS, OUTCOMES, Entry, Kind
from state.settings import StateSettings
from state.store import Store, Tick

BATCH = 10_000
CLAIMED = 1_000
ROUNDS = 7
NOW = 1_800_000_000_000_000
FAR = 30 * 86_400 * 1_000_000
_LANES = 2
_PAYLOAD = b"x" * 200
_A_FEW = 100


def main() -> None:
    """Measure both stores."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pending", type=int, default=1_000_000, help="the large number pending")
    pending = options.parse_args().pending
    console = Console(width=100)
    console.print(f"{licence('embedded')}.")
    with tempfile.TemporaryDirectory(prefix="duestream-bench-") as name:
        folder = Path(name)
        delta = measure_store(folder, None, pending)
        with LocalMongo(folder / "mongo") as server:
            mongo = measure_store(folder, server.uri, pending)
    table = Table("the store by itself", "delta", "mongo")
    table.add_row("schedules taken, /s", *(f"{each['upserts']:,.0f}" for each in (delta, mongo)))
    for count in delta["claim_ms"]:
        times = (f"{each['claim_ms'][count]:.0f}" for each in (delta, mongo))
        table.add_row(f"find and claim 1,000 due of {count:,} pending, ms", *times)
    console.print(table)


def measure_store(folder: Path, mongo: str | None, pending: int) -> dict:
    """Return upserts a second while filling, and claim times at 10 k, 100 k, ... pending."""
    settings = StateSettings.model_validate(state_settings("store", folder, mongo))
    store = open_store(settings)
    load = Load(store)
    times: dict[int, float] = {}
    begun = time.monotonic()
    claiming = 0.0
    for count in (10_000, 100_000, pending):
        load.fill(count)
        since = time.monotonic()
        times[count] = load.claim_time() * 1000
        claiming += time.monotonic() - since
    spent = time.monotonic() - begun - claiming
    store.close()
    return {"upserts": load.taken / spent, "claim_ms": times}


class Load:
    """Fills a store with schedules far ahead, and now and then with some that are due."""

    def __init__(self, store: Store, first: int = 0) -> None:
        self._store = store
        self._batch = 0
        self._next = first
        self.taken = 0

    def fill(self, count: int) -> None:
        """Schedule far ahead until ``count`` are pending."""
        while self.taken < count:
            size = min(BATCH, count - self.taken)
            self._tick(_puts(self._next, size, NOW + FAR), until=NOW)
            self.taken += size

    def claim_time(self) -> float:
        """Return the median time of a tick that finds, claims and returns what is due."""
        times = []
        for _ in range(ROUNDS):
            self._tick(_puts(self._next, CLAIMED, NOW + 1_000_000), until=NOW)
            self._store.maintain(NOW)
            begun = time.monotonic()
            claims = self._tick(COMMANDS.empty_table(), until=NOW + 2_000_000)
            times.append(time.monotonic() - begun)
            if claims.num_rows != CLAIMED:
                raise SystemExit(f"{claims.num_rows} rows were claimed instead of {CLAIMED}")
            done = reshape(claims, OUTCOMES, {"status": "done", "published_offset": 1})
            self._tick(COMMANDS.empty_table(), until=NOW, outcomes=done)
        return statistics.median(times)

    def live(self) -> None:
        """Commit what a quiet second brings: some schedules, and some that go out."""
        ahead = _puts(self._next, _A_FEW, NOW + FAR)
        due = _puts(self._next + _A_FEW, _A_FEW, NOW)
        claims = self._tick(pa.concat_tables([ahead, due]), until=NOW + _A_FEW)
        done = {"status": "done", "published_offset": 1, "published_at": NOW}
        self._tick(COMMANDS.empty_table(), until=NOW, outcomes=reshape(claims, OUTCOMES, done))

    def _tick(self, commands: pa.Table, until: int, outcomes: pa.Table | None = None) -> pa.Table:
        self._next += commands.num_rows
        self._batch += 1
        said = OUTCOMES.empty_table() if outcomes is None else outcomes
        room = Room((CLAIMED,) * _LANES)
        return self._store.commit(Tick(self._batch, NOW, commands, said, until, room))


def _puts(first: int, count: int, due: int) -> pa.Table:
    keys = [b"key-%d" % n for n in range(first, first + count)]
    identities = [b"in\0" + key for key in keys]
    one = {
        "entry": Entry.PUT.value,
        "source_topic": "in",
        "source_partition": 0,
        "kind": Kind.MESSAGE.value,
        "output_topic": "out",
        "payload": _PAYLOAD,
        "superseded": 0,
    }
    numbers = pa.array(range(first, first + count), pa.int64())
    columns = {
        "identity": identities,
        "source_offset": numbers,
        "source_timestamp": numbers,
        "hash": [zlib.crc32(identity) for identity in identities],
        "key": keys,
        "output_key": keys,
        "due": pa.array([due + n for n in range(count)], pa.int64()),
    }
    return reshape(pa.table(columns), COMMANDS, one)


if __name__ == "__main__":
    main()
