"""Where a scenario plays: one job with topics and a state of its own, and those who watch it."""

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from deltalake import DeltaTable
from pymongo import MongoClient

from bench.events import Ints
from bench.far_ahead import AHEAD, FAR_KEYS, Waiting, make
from bench.job import Job, state_settings
from bench.scenarios import Scenario, Store
from pipeline.local_kafka import LocalKafka
from state.delta.layout import TABLES
from state.settings import StateSettings

PATIENCE = 120  # seconds without a message after which an observer gives up
_APPEND_TIME = {"message.timestamp.type": "LogAppendTime"}
_APART = 100_000_000  # from the numbers of one scenario to those of the next
_WARM_SECONDS, _WARM_RATE = 10, 1_000


class Stage:
    """A job that is yet to be started; numbers of messages are never used twice on it."""

    def __init__(
        self, broker: LocalKafka, folder: Path, scenario: Scenario, mongo: str | None, seed: int
    ) -> None:
        self.store: Store = "mongo" if mongo else "delta"
        name = f"{scenario.job.replace(' ', '-')}-{self.store}"
        self.topics = (f"{name}.in", f"{name}.out")
        self.seed = seed
        self._broker = broker
        self.folder = folder / name
        self._mongo = mongo
        self._state = state_settings(name, self.folder, mongo, scenario.delta)
        self._first = 0
        broker.create_topics(self.topics, partitions=4, config=_APPEND_TIME)
        self.job = Job(self.folder, broker.bootstrap_servers, self.topics, self._state)

    @property
    def servers(self) -> str:
        """The address of the broker."""
        return self._broker.bootstrap_servers

    def numbers(self) -> int:
        """Return the first of a hundred million numbers that are not used yet."""
        self._first += _APART
        return self._first

    def make_pending(self, count: int) -> dict[str, float]:
        """Have so many pending far ahead before the job begins; return what that takes."""
        now = time.time_ns() // 1000
        waiting = Waiting(FAR_KEYS, count, now + AHEAD[0], now + AHEAD[1])
        return self._make(waiting, now)

    def make_overdue(self, first: int, count: int, seconds: float) -> dict[str, float]:
        """Have so many overdue before the job begins, by up to ``seconds``."""
        now = time.time_ns() // 1000
        waiting = Waiting(first, count, now - int(seconds * 1e6), now - 1_000_000)
        return self._make(waiting, now)

    def warm_up(self) -> None:
        """Serve for a while unmeasured: the JVM compiles what it runs first."""
        taken, count = len(self.job.ticks()), _WARM_SECONDS * _WARM_RATE
        first = self.numbers()
        self.load(first=first, count=count, rate=_WARM_RATE, ahead=(1.0, 3.0))
        self.job.wait_for_commands(count, taken)
        time.sleep(4)  # the last of them go out

    def load(self, **plan: object) -> dict[str, float]:
        """Send events, in a process of its own, and wait for it."""
        return self.answer(self.start_load(**plan))

    def start_load(self, **plan: object) -> "subprocess.Popen[str]":
        """Begin to send events."""
        given = self._places() | {"seed": [self.seed, plan["first"]], "rate": 0} | plan
        return self._start("bench.load", given)

    def observe(
        self, own: tuple[int, int], expect: list[tuple[int, int]], patience: float = PATIENCE
    ) -> "subprocess.Popen[str]":
        """Start a process that reads what comes out, and return once it reads."""
        plan = {"own": own, "expect": expect, "patience": patience, "file": str(self._seen)}
        process = self._start("bench.observe", self._places() | plan)
        if process.stdout is None or process.stdout.readline() != "ready\n":
            raise SystemExit("the observer cannot read the output topic")
        return process

    def answer(self, process: "subprocess.Popen[str]") -> dict[str, Any]:
        """Wait for what a process says at its end; the job must stay alive meanwhile."""
        said = process.stdout.read() if process.stdout else ""
        if process.wait() != 0:
            raise SystemExit(f"{process.args!r} failed")
        answer: dict[str, Any] = json.loads(said)
        return answer

    def seen(self) -> tuple[Ints, Ints]:
        """Return due instants and append times of what the last observer saw."""
        with np.load(self._seen) as columns:
            return columns["due"], columns["appended"]

    def state_bytes(self) -> int:
        """Return how much the state takes on disk, without files it no longer uses."""
        if self._mongo is not None:
            database = StateSettings.model_validate(self._state).mongo.database
            with MongoClient[dict[str, Any]](self._mongo) as client:
                stats = client[database].command("dbStats")
            return int(stats["storageSize"] + stats["indexSize"])
        tables = (DeltaTable(f"{self.folder}/state/{layout.name}") for layout in TABLES)
        return sum(sum(t.get_add_actions()["size_bytes"].to_pylist()) for t in tables)

    @property
    def _seen(self) -> Path:
        return self.folder / "seen.npz"

    def _make(self, waiting: Waiting, now: int) -> dict[str, float]:
        begun = time.monotonic()
        make(StateSettings.model_validate(self._state), self.topics, waiting, now)
        seconds = time.monotonic() - begun
        return {
            "made_in_seconds": round(seconds, 1),
            "bytes_per_pending": round(self.state_bytes() / waiting.count),
        }

    def _places(self) -> dict[str, object]:
        return {"servers": self.servers, "input": self.topics[0], "output": self.topics[1]}

    def _start(self, module: str, plan: Mapping[str, object]) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-m", module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        if process.stdin is not None:
            process.stdin.write(json.dumps(plan))
            process.stdin.close()
        return process
