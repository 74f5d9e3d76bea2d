"""The runs of the benchmark; each starts a job of its own and returns what was measured."""

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.job import Job
from pipeline.local_kafka import LocalKafka

FAR = (86_400.0, 2 * 86_400.0)  # seconds ahead: pending for the whole run
SEED = 7


@dataclass(frozen=True, slots=True)
class Bench:
    """Where the scenarios run."""

    broker: LocalKafka
    folder: Path
    mongo: str | None = None  # the URI of the MongoDB that keeps the state; None: Delta tables

    def steady(
        self,
        name: str,
        seconds: int = 40,
        rate: int = 1000,
        pending: int = 0,
        keeping: bool = False,
    ) -> dict:
        """Serve ``rate`` a second, due 10 to 30 s ahead, with ``pending`` others far ahead.

        ``keeping``: then the same once more with a policy that looks at the pending one.
        """
        topics, job = self._job(name)
        ingest = self._preload(job, topics, pending) if pending else None
        taken = len(job.ticks())
        count = seconds * rate
        observer = self._observe(topics, count)
        self._load(topics, count, first=0, rate=rate, ahead=(10.0, 30.0))
        lag = pending + count - sum(tick["commands"] for tick in job.ticks())
        report = _answer(observer)
        ticks = _served(job, taken)
        kept = self._keeping(job, topics, seconds, rate, first=count) if keeping else {}
        job.stop()
        return report | {
            **kept,
            "tick_ms": {f"p{q}": float(np.percentile(ticks, q)) for q in (50, 95)},
            "lag_at_end": lag,
            "ingest_rate": ingest,
        }

    def burst(self, count: int = 100_000) -> dict:
        """Send ``count`` messages that all fall due within one second."""
        topics, job = self._job("burst")
        observer = self._observe(topics, count)
        at = int(time.time() * 1000) + 30_000
        self._load(topics, count, first=0, rate=0, at=at, spread=1.0)
        job.wait_for_commands(count)
        ahead = at / 1000 - time.time()
        report = _answer(observer)
        job.stop()
        return report | {"publish_rate": _rate(report, count), "ahead": ahead}

    def drain(self, count: int = 200_000) -> dict:
        """Stop the job while ``count`` messages wait, start it when all of them are overdue."""
        topics, job = self._job("drain")
        at = int(time.time() * 1000) + 120_000
        self._load(topics, count, first=0, rate=0, at=at, spread=30.0)
        job.wait_for_commands(count)
        job.stop()
        time.sleep(max(at / 1000 + 31 - time.time(), 0))
        job.start()
        report = _answer(self._observe(topics, count))
        job.stop()
        return report | {"publish_rate": _rate(report, count)}

    def idle(self, seconds: int = 30) -> dict:
        """Let a job with nothing to do tick, and see what that costs."""
        _, job = self._job("idle")
        job.wait_for_commands(0)
        time.sleep(60)  # the JVM warms up: compiling is not idling
        before, begun = job.cpu_seconds(), time.monotonic()
        time.sleep(seconds)
        used = job.cpu_seconds() - before
        job.stop()
        return {"core_share": used / (time.monotonic() - begun)}

    def _job(self, name: str) -> tuple[tuple[str, str], Job]:
        name = f"{name}-mongo" if self.mongo else name
        topics = (f"{name}.in", f"{name}.out")
        self.broker.create_topics(topics, partitions=4, config=_APPEND_TIME)
        folder = self.folder / name
        state = state_settings(name, folder, self.mongo)
        return topics, Job(folder, self.broker.bootstrap_servers, topics, state)

    def _keeping(
        self, job: Job, topics: tuple[str, str], seconds: int, rate: int, first: int
    ) -> dict:
        """Serve events that are ignored while their key is pending, which every other one is."""
        taken, count = len(job.ticks()), seconds * rate
        self._load(topics, count, first=first, rate=rate, ahead=(10.0, 30.0), keep=_FAR_KEYS)
        ticks = _served(job, taken)
        return {"keeping_tick_ms": {f"p{q}": float(np.percentile(ticks, q)) for q in (50, 95)}}

    def _preload(self, job: Job, topics: tuple[str, str], count: int) -> float:
        begun = time.monotonic()
        self._load(topics, count, first=_FAR_KEYS, rate=0, ahead=FAR)
        job.wait_for_commands(count)
        return count / (time.monotonic() - begun)

    def _load(self, topics: tuple[str, str], count: int, **plan: object) -> None:
        process = _start("bench.load", self._plan(topics) | {"count": count, "seed": SEED} | plan)
        _answer(process)

    def _observe(self, topics: tuple[str, str], count: int) -> subprocess.Popen:
        return _start("bench.observe", self._plan(topics) | {"count": count, "patience": 90})

    def _plan(self, topics: tuple[str, str]) -> dict:
        servers = self.broker.bootstrap_servers
        return {"servers": servers, "input": topics[0], "output": topics[1]}


def state_settings(name: str, folder: Path, mongo: str | None) -> dict[str, object]:
    """Return the settings of a state of its own, in a database or in tables."""
    if mongo is None:
        return {"delta": {"path": str(folder / "state")}}
    return {"kind": "mongo", "mongo": {"uri": mongo, "database": f"bench-{name}"}}


_FAR_KEYS = 1_000_000_000  # numbers of what is pending far ahead
_APPEND_TIME = {"message.timestamp.type": "LogAppendTime"}


def _served(job: Job, taken: int) -> list[float]:
    """Return how long ticks with commands took; the JVM warms up in the first of them."""
    served = [t["seconds"] * 1000 for t in job.ticks()[taken:] if t["commands"]]
    return served[len(served) // 3 :]


def _rate(report: dict, count: int) -> float:
    return count / max(report["span_seconds"], 0.001)


def _start(module: str, plan: dict) -> subprocess.Popen:
    process = subprocess.Popen(
        [sys.executable, "-m", module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    process.stdin.write(json.dumps(plan))
    process.stdin.close()
    return process


def _answer(process: subprocess.Popen) -> dict:
    answer = process.stdout.read()
    if process.wait() != 0:
        raise SystemExit(f"{' '.join(process.args)} failed")
    return json.loads(answer)
