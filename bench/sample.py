"""Watches what a job costs while it runs: processor time, memory, and when folds are at work."""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Self

from bench.late import Span
from bench.proc import cpu_seconds, tree

_EVERY = 0.5  # seconds; a look takes some milliseconds
_MB = 1_000_000


class Sampler:
    """Looks at the job's processes twice a second; the job may be started anew meanwhile."""

    def __init__(self, job: Callable[[], int | None], servers: Mapping[str, int]) -> None:
        self._job = job
        self._servers = servers
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="sampler", daemon=True)
        self._cpu: dict[tuple[int, int], tuple[float, float]] = {}  # of each process: first, last
        self._peaks: dict[str, int] = {}
        self._folds: dict[tuple[int, int], Span] = {}

    def __enter__(self) -> Self:
        self._look(new=False)
        self._begun = time.monotonic()
        self._before = {name: cpu_seconds(pid) for name, pid in self._servers.items()}
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()
        self._look()
        self._seconds = time.monotonic() - self._begun
        self._spent = {
            name: cpu_seconds(pid) - self._before[name] for name, pid in self._servers.items()
        }

    @property
    def folds(self) -> list[Span]:
        """When folds were at work, in seconds since the epoch."""
        return sorted(self._folds.values())

    def figures(self, messages: int) -> dict[str, Any]:
        """Return what it came to; CPU by the million of messages where there were any."""
        cpu = sum(last - first for first, last in self._cpu.values())
        spent = {"job": cpu, **self._spent}
        found: dict[str, Any] = {
            "watched_seconds": round(self._seconds, 1),
            "cores": {name: round(used / self._seconds, 3) for name, used in spent.items()},
            "peak_mb": {part: round(peak / _MB) for part, peak in self._peaks.items()},
            "folds": len(self._folds),
        }
        if messages:
            found["cpu_per_million"] = {
                name: round(used / messages * 1e6, 1) for name, used in spent.items()
            }
        return found

    def _watch(self) -> None:
        while not self._done.wait(_EVERY):
            self._look()

    def _look(self, new: bool = True) -> None:
        """Note all processes; those that are ``new`` since the last look began at zero."""
        root = self._job()
        held: dict[str, int] = {"job": 0}
        for process in tree(root) if root is not None else ():
            name = (process.pid, process.begun)
            # Whoever is about to start another program is there twice for an instant.
            size = process.rss if name in self._cpu or not new else 0
            first, _ = self._cpu.get(name, (0.0 if new else process.cpu, 0.0))
            self._cpu[name] = (first, process.cpu)
            held[process.part] = held.get(process.part, 0) + size
            held["job"] += size
            if process.part == "fold":
                begun, _ = self._folds.get(name, (time.time() - _EVERY / 2, 0.0))
                self._folds[name] = (begun, time.time())
        for server, pid in self._servers.items():
            held[server] = sum(process.rss for process in tree(pid))
        for part, size in held.items():
            self._peaks[part] = max(size, self._peaks.get(part, 0))
