"""Looks at a job from outside now and then: memory, files, ticks, lateness, what is pending."""

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil

from bench.soak_heap import live_mb
from bench.soak_observer import SEEN
from bench.soak_verdict import WARM
from state.delta.layout import HISTORY
from state.errors import DuestreamError
from state.inspect import Inspector, Status, now_micros

Sample = dict[str, float | None]
_HEAP_EVERY = 60.0  # seconds: to look into the heap takes Java some tenths of a second


class Sampler:
    """Takes samples of one job; its files are those that bench.soak lays out below ``folder``."""

    def __init__(
        self,
        folder: Path,
        state_folder: Path,
        pid: Callable[[], int | None],
        state: Callable[[], Inspector],
    ) -> None:
        self._folder, self._state_folder = folder, state_folder
        self._pid, self._state = pid, state
        self.begun = time.monotonic()
        self._read = {"ticks": 0, "seen": 0}  # bytes of the files that earlier samples are of
        self._life = (0, 0.0)  # the process looked at last, and since when
        self._looked_into_heap = 0.0
        self.samples: list[Sample] = []

    def take(self, running: bool) -> Sample:
        """Look at everything once; what cannot be seen right now is None."""
        late = self._late()
        ticks = self._ticks()
        sample: Sample = {
            "second": time.monotonic() - self.begun,
            "life": self._age(),
            **self._memory(),
            "heap_mb": self._heap(),
            **_files(self._state_folder),
            "checkpoint_files": _files(self._folder / "checkpoint")["files"],
            **self._ledger(running),
            "ticks": len(ticks),
            "tick_p50_ms": _percentile(ticks, 50),
            "tick_p95_ms": _percentile(ticks, 95),
            "published": len(late),
            "late_p50_ms": _percentile(late, 50),
            "late_p99_ms": _percentile(late, 99),
        }
        self.samples.append(sample)
        return sample

    def seen(self) -> np.ndarray:
        """Return all that the observer saw."""
        return np.fromfile(self._folder / "seen.bin", SEEN)

    def _age(self) -> float:
        """Return for how long the present process of the job has been there."""
        pid = self._pid() or 0
        if pid != self._life[0]:
            self._life = (pid, time.monotonic())
        return time.monotonic() - self._life[1] if pid else 0.0

    def _memory(self) -> Sample:
        """Return resident megabytes of the job's Python processes (folds too) and of its JVM."""
        used = {"python_mb": 0.0, "jvm_mb": 0.0}
        for process in _family(self._pid()):
            try:
                kind = "jvm_mb" if _name(process) == "java" else "python_mb"
                used[kind] += process.memory_info().rss / 1e6
            except psutil.NoSuchProcess:
                continue
        return {name: value or None for name, value in used.items()}

    def _heap(self) -> float | None:
        """Return megabytes that live in the heap of the JVM, once a minute of a life."""
        now = time.monotonic()
        if self._age() < WARM or now - self._looked_into_heap < _HEAP_EVERY:
            return None
        self._looked_into_heap = now
        java = [process.pid for process in _family(self._pid()) if _name(process) == "java"]
        return live_mb(java[0]) if java else None

    def _ledger(self, running: bool) -> Sample:
        """Return how many are pending, and what each closed one takes on disk."""
        try:
            ends = self._state().stats(now_micros()).ledger.ends if running else None
        except (DuestreamError, OSError):  # its server is away
            ends = None
        if ends is None:
            return {"pending": None, "closed_bytes": None}
        pending = ends.get(Status.PENDING, 0)
        closed = sum(ends.values()) - pending - ends.get(Status.CLAIMED, 0)
        kept = sum(size for _, size in _sizes(self._state_folder / HISTORY.name))
        return {"pending": float(pending), "closed_bytes": kept / closed if closed else None}

    def _ticks(self) -> np.ndarray:
        """Return how long the ticks since the last sample took, in milliseconds."""
        lines = self._new("ticks", self._folder / "ticks.jsonl").decode().splitlines()
        return np.array([json.loads(line)["seconds"] * 1000 for line in lines])

    def _late(self) -> np.ndarray:
        """Return how late messages were that the observer saw since the last sample."""
        entries = np.frombuffer(self._new("seen", self._folder / "seen.bin"), SEEN)
        return entries["at"] - entries["due"]

    def _new(self, name: str, path: Path) -> bytes:
        """Return what came to a file, up to the last whole entry."""
        if not path.exists():
            return b""
        with path.open("rb") as file:
            file.seek(self._read[name])
            new = file.read()
        whole = (
            new.rfind(b"\n") + 1 if name == "ticks" else len(new) // SEEN.itemsize * SEEN.itemsize
        )
        self._read[name] += whole
        return new[:whole]


def _family(pid: int | None) -> list[psutil.Process]:
    try:
        return (
            [] if pid is None else [(root := psutil.Process(pid)), *root.children(recursive=True)]
        )
    except psutil.NoSuchProcess:
        return []


def _name(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.NoSuchProcess:
        return ""


def _files(folder: Path) -> Sample:
    """Count the files below a folder, those that are Delta's logs, and bytes but of closed rows."""
    closed = f"{folder / HISTORY.name}"
    sizes = list(_sizes(folder))
    logs = [size for path, size in sizes if "/_delta_log" in path]
    return {
        "files": float(len(sizes)),
        "state_mb": sum(size for path, size in sizes if not path.startswith(closed)) / 1e6,
        "log_files": float(len(logs)),
        "log_mb": sum(logs) / 1e6,
    }


def _sizes(folder: Path) -> Iterator[tuple[str, int]]:
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                yield place, (Path(place) / name).stat().st_size
            except FileNotFoundError:  # it was dropped meanwhile
                continue


def _percentile(values: np.ndarray, q: float) -> float | None:
    return float(np.percentile(values, q)) if len(values) else None
