"""Feeds the naive baseline with events that are due at once, and tells it when a phase is over."""

import json
import time
from collections.abc import Callable
from pathlib import Path

from confluent_kafka import Producer

from bench.events import record
from pipeline.leashed import Leashed

BATCH = 1_000
WARM = 2  # ticks of the bounded phase that do not count: the JVM compiles
FEWEST = WARM + 4
FEED = 10_000  # events a second in the unbounded phase
INPUT, OUTPUT = "naive.in", "naive.out"
BOUNDED, UNBOUNDED = "bounded", "unbounded"
_PATIENCE = 900.0


class Feeding:
    """The events, numbered on from ``first``, for one job whose files are in ``folder``."""

    def __init__(self, servers: str, folder: Path, job: Leashed, first: int) -> None:
        self._folder, self._job = folder, job
        self._next = first
        self._producer = Producer({"bootstrap.servers": servers, "linger.ms": 5})

    def a_batch_a_tick(self, seconds: float) -> range:
        """Feed the bounded phase, timed once it is warm; return the numbers that count."""
        first, end, begun = self._next, None, 0
        while begun <= FEWEST or end is None or time.monotonic() < end:
            self._send(BATCH)
            begun += 1
            self.wait(lambda begun=begun: self._begun() >= begun)
            if begun == WARM + 1:
                end = time.monotonic() + seconds
        self._end(BOUNDED, self._next - first, ticks=begun)
        return range(first + WARM * BATCH, self._next)

    def steadily(self, seconds: float) -> range:
        """Feed the unbounded phase, and let it take at least three batches."""
        first, begun = self._next, time.monotonic()
        while (past := time.monotonic() - begun) < seconds:
            self._send(int(past * FEED) - (self._next - first))
            time.sleep(0.02)
        self._end(UNBOUNDED, self._next - first, ticks=3)
        return range(first, self._next)

    def wait(self, condition: Callable[[], bool]) -> None:
        """Wait for something that the job does."""
        give_up = time.monotonic() + _PATIENCE
        while not condition():
            if not self._job.alive or time.monotonic() > give_up:
                log = (self._folder / "job.log").read_text(errors="replace")
                raise SystemExit(f"the naive job does not go on:\n{log[-3000:]}")
            time.sleep(0.01)

    def _send(self, count: int) -> None:
        due = int(time.time() * 1000)
        for number in range(self._next, self._next + count):
            key, value, headers = record(number, due, OUTPUT)
            self._producer.produce(INPUT, value, key, headers=headers)
            self._producer.poll(0)
        self._producer.flush()
        self._next += max(count, 0)

    def _begun(self) -> int:
        return sum("begun" in line for line in lines(self._folder))

    def _end(self, phase: str, all_of_them: int, ticks: int) -> None:
        """End a phase after so many ticks, or once all of its messages are out."""

        def is_over() -> bool:
            sizes = [tick["published"] for tick in ticks_of(self._folder, phase)]
            return len(sizes) >= ticks or sum(sizes) >= all_of_them

        self.wait(is_over)
        (self._folder / f"{phase}.end").touch()


def lines(folder: Path) -> list[dict]:
    """Return what the job has told so far."""
    told = folder / "ticks.jsonl"
    written = told.read_text().splitlines() if told.exists() else []
    return [json.loads(line) for line in written if line.endswith("}")]


def ticks_of(folder: Path, phase: str) -> list[dict]:
    """Return the ticks of a phase that have ended."""
    return [line for line in lines(folder) if "ended" in line and line["phase"] == phase]
