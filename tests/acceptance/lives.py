"""The lives of one job: a process after the other on the same state, each ended as told."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import yaml

from pipeline.config.load import load_settings
from state.crashpoint import CRASH_AT
from state.inspect import Inspector
from state.open import open_inspector

PATIENCE = 300.0
LANES = 2


class Lives:
    """Runs ``duestream run`` again and again with the same settings."""

    def __init__(
        self,
        folder: Path,
        servers: str,
        topics: tuple[str, str],
        state: Mapping[str, object],
        **blocks: object,
    ) -> None:
        """Take topics to read and to publish to, where the state is, and blocks of settings."""
        self._folder = folder
        self._file = folder / "duestream.yaml"
        settings = _settings(folder, servers, topics, state) | blocks
        self._file.write_text(yaml.safe_dump(settings))
        self.logs: list[Path] = []
        self._heard = 0
        self.job: subprocess.Popen[bytes] | None = None

    def begin(self, crash_at: str = "", *words: str) -> None:
        """Start the job, with more words; it dies at ``crash_at``, if that is given."""
        self.logs.append(self._folder / f"life-{len(self.logs)}.log")
        self._heard = 0
        crash = {CRASH_AT: crash_at} if crash_at else {}
        with self.logs[-1].open("wb") as log:
            self.job = subprocess.Popen(
                self._words("run", *words),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=_environ() | crash,
            )

    def command(self, name: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run another command of ``duestream`` with the same settings, to its end."""
        return subprocess.run(
            self._words(name, *words), capture_output=True, text=True, env=_environ()
        )

    @property
    def has_ended(self) -> bool:
        """Whether the job is not running now."""
        return self.job is None or self.job.poll() is not None

    def said(self, words: str) -> bool:
        """Tell whether the present life has logged ``words``; it must not have ended without."""
        found = words in self.log()
        assert found or not self.has_ended, (
            f"the job ended without a word of {words}:\n{self.tail()}"
        )
        return found

    def forget(self) -> None:
        """Leave out of ``log`` what was said so far."""
        self._heard = len(self.logs[-1].read_text(errors="replace"))

    def log(self) -> str:
        return self.logs[-1].read_text(errors="replace")[self._heard :]

    def tail(self) -> str:
        return self.log()[-3000:]

    def dies_at(self, point: str) -> None:
        """Wait for the death of the job and see that it came at ``point``."""
        self.wait_for(lambda: self.has_ended, f"the job to die at {point}")
        assert self.job is not None
        assert self.job.returncode == -signal.SIGKILL, self.tail()
        assert f"crash point {point} is reached" in self.log(), self.tail()

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        """Wait; whoever gives up repeats the last words of the job."""
        wait_for(condition, what, told=self.tail)

    def kill(self) -> None:
        """End the job as kill -9 does."""
        if self.job is not None and self.job.poll() is None:
            self.job.kill()
            self.job.wait()

    def stop(self) -> int:
        """End the job politely and return its exit code."""
        assert self.job is not None
        self.job.send_signal(signal.SIGTERM)
        return self.job.wait(PATIENCE)

    def state(self) -> Inspector:
        return open_inspector(load_settings(self._file, environ={}).state)

    def _words(self, name: str, *words: str) -> list[str]:
        program = [sys.executable, "-m", "pipeline.cli.main"]
        return [*program, *name.split(), "--config", str(self._file), *words]


def _environ() -> dict[str, str]:
    kept = {"DUESTREAM_CACHE"}
    return {k: v for k, v in os.environ.items() if not k.startswith("DUESTREAM_") or k in kept}


def _settings(
    folder: Path, servers: str, topics: tuple[str, str], state: Mapping[str, object]
) -> dict[str, object]:
    source, out = topics
    return {
        "name": source,
        "kafka": {"bootstrap_servers": servers},
        "sources": [{"topic": source}],
        "outputs": {"allow": [out]},
        "dead_letter": {"topic": f"{source}.dead"},
        "pipeline": {"checkpoint": str(folder / "checkpoint"), "trigger_interval": "300ms"},
        "publish": {"lookahead_min": "12s", "lanes": LANES},  # much is claimed and not yet out
        "state": state,
    }


def in_delta(folder: Path, **more: object) -> dict[str, object]:
    """Return the settings of a state in tables below ``folder``."""
    return {"delta": {"path": str(folder / "state"), "window": "20s", **more}}


def in_mongo(uri: str, database: str, **more: object) -> dict[str, object]:
    """Return the settings of a state in a database."""
    return {"kind": "mongo", "mongo": {"uri": uri, "database": database, **more}}


def wait_for(
    condition: Callable[[], bool],
    what: str,
    patience: float = PATIENCE,
    told: Callable[[], str] = str,
    every: float = 0.2,
) -> None:
    give_up = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < give_up, f"gave up waiting for {what}\n{told()}"
        time.sleep(every)
