"""Runs folds away from the ticks: in a process of its own, or in a thread."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from state.delta.fold_steps import fold_and_tidy
from state.delta.folded import Folded
from state.delta.native import NativeFoldWriter
from state.delta.tables import Tables
from state.delta.upkeep import FoldFailed

_ROOT = Path(__file__).resolve().parents[2]
# Not lower: a fold that ran only while nobody else wanted to made all stand still, twice.
_NICE = 10
_FRUGAL = {
    "TOKIO_WORKER_THREADS": "1",  # of delta-rs
    "RAYON_NUM_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",  # a seventh less processor time, and less memory
}


class ProcessRunner:
    """Runs state.delta.fold_process, at low priority."""

    def __init__(self, tables: Tables, keep_closed: int, vacuum_age: int) -> None:
        self._tables = tables
        self._keep_closed = keep_closed
        self._vacuum_age = vacuum_age
        self._process: subprocess.Popen[str] | None = None

    @property
    def pid(self) -> int | None:
        """The process at work, if there is one."""
        return None if self._process is None else self._process.pid

    def start(self, now: int, tidy: bool) -> None:
        """Begin a fold and return at once."""
        path = os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "state.delta.fold_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**_FRUGAL, **os.environ, "PYTHONPATH": path},
        )
        _stand_back(self._process.pid)
        order = {
            "path": self._tables.path,
            "options": dict(self._tables.options),
            "now": now,
            "keep_closed": self._keep_closed,
            "vacuum_age": self._vacuum_age if tidy else None,
        }
        if self._process.stdin is not None:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()

    def poll(self) -> Folded | None:
        """Return what a fold did once it has ended; FoldFailed when it failed."""
        process = self._process
        if process is None or process.poll() is None:
            return None
        self._process = None
        with process:
            said = process.stdout.read() if process.stdout is not None else ""
        if not said:
            raise FoldFailed(f"its process ended with code {process.returncode}")
        result = json.loads(said)
        if "error" in result:
            raise FoldFailed(result["error"])
        return Folded.from_json(result["folded"])

    def run(self, now: int, tidy: bool) -> Folded:
        """Fold here and wait for it."""
        age = self._vacuum_age if tidy else None
        writer = NativeFoldWriter(self._tables)
        return fold_and_tidy(self._tables, writer, now, self._keep_closed, age)

    def close(self) -> None:
        """End a fold that is still at work; the next one goes on where it stopped."""
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()
            with process:
                process.wait()


def _stand_back(pid: int) -> None:
    """Give a process low priority, at once, so that it counts for all its imports and threads."""
    with suppress(OSError):  # some sandboxes forbid it; then it is as quick as others
        least = os.getpriority(os.PRIO_PROCESS, pid)
        os.setpriority(os.PRIO_PROCESS, pid, max(least, _NICE))


class ThreadRunner:
    """Runs a fold in a thread, for writers that live in this process."""

    def __init__(self, work: Callable[[int, bool], Folded]) -> None:
        self._work = work
        self._thread: threading.Thread | None = None
        self._result: Folded | Exception | None = None

    def start(self, now: int, tidy: bool) -> None:
        """Begin a fold and return at once."""
        self._result = None
        self._thread = threading.Thread(
            target=self._fold, args=(now, tidy), name="fold", daemon=True
        )
        self._thread.start()

    def poll(self) -> Folded | None:
        """Return what a fold did once it has ended; FoldFailed when it failed."""
        if self._thread is None or self._thread.is_alive():
            return None
        self._thread = None
        if isinstance(self._result, Exception):
            raise FoldFailed(f"{type(self._result).__name__}: {self._result}")
        return self._result

    def run(self, now: int, tidy: bool) -> Folded:
        """Fold here and wait for it."""
        return self._work(now, tidy)

    def close(self) -> None:
        """Wait for the fold at work."""
        if self._thread is not None:
            self._thread.join()

    def _fold(self, now: int, tidy: bool) -> None:
        try:
            self._result = self._work(now, tidy)
        except Exception as error:
            self._result = error
