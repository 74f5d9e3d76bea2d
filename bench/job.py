"""The job under test: ``duestream run`` as a process, with the times of its ticks in a file."""

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import yaml

from pipeline.leashed import Leashed

_SPARK = "Spark is there"
_READY = "running;"
_PATIENCE = 300.0


class Job:
    """Runs with a state of its own, its files below ``folder``."""

    def __init__(
        self, folder: Path, servers: str, topics: tuple[str, str], state: Mapping[str, object]
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._ticks = folder / "ticks.jsonl"
        self._log = folder / "job.log"
        settings = folder / "duestream.yaml"
        settings.write_text(yaml.safe_dump(_settings(folder, servers, topics, state)))
        run = [sys.executable, "-m", "pipeline.cli.main", "run"]
        self._command = [*run, "--config", str(settings), "--measure", str(self._ticks)]
        self._process: Leashed | None = None

    @property
    def pid(self) -> int | None:
        """The process id of its Python, None while it does not run."""
        return self._process.pid if self._process and self._process.alive else None

    def start(self) -> dict[str, float]:
        """Start it and wait for its first tick; return how long that took, step by step."""
        self._log.unlink(missing_ok=True)
        begun = time.monotonic()
        self._process = Leashed(self._command, self._log)
        self._wait_for(_SPARK)
        spark = round(time.monotonic() - begun, 2)
        self._wait_for(_READY)
        return {"spark_seconds": spark, "ready_seconds": round(time.monotonic() - begun, 2)}

    def ticks(self) -> list[dict[str, float]]:
        """Return what the job noted of each tick so far."""
        if not self._ticks.exists():
            return []
        return [
            json.loads(line) for line in self._ticks.read_text().splitlines() if line[-1:] == "}"
        ]

    def wait_for_commands(self, count: int, since: int = 0) -> None:
        """Wait until the job has taken ``count`` commands after its first ``since`` ticks."""
        while sum(tick["commands"] for tick in self.ticks()[since:]) < count:
            self.require_alive()
            time.sleep(0.5)

    def stop(self) -> None:
        """End it cleanly."""
        self._end("stop")

    def kill(self) -> None:
        """End it as a crash does."""
        self._end("kill")

    def require_alive(self) -> None:
        """Raise what the log ends with if the job has ended."""
        if self.pid is None:
            raise SystemExit(f"the job ended:\n{self._log.read_text()[-2000:]}")

    def _end(self, order: str) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end("kill" if order == "kill" else "stop")

    def _wait_for(self, word: str) -> None:
        give_up = time.monotonic() + _PATIENCE
        while not self._log.exists() or word not in self._log.read_text():
            self.require_alive()
            if time.monotonic() > give_up:
                raise SystemExit(f"the job does not start; see {self._log}")
            time.sleep(0.1)


def state_settings(
    name: str, folder: Path, mongo: str | None, more: Mapping[str, object] | None = None
) -> dict[str, object]:
    """Return the settings of a state of its own, in a database or in tables (with ``more``)."""
    if mongo is None:
        return {"delta": {"path": str(folder / "state"), **(more or {})}}
    return {"kind": "mongo", "mongo": {"uri": mongo, "database": f"bench-{name}"}}


def _settings(
    folder: Path, servers: str, topics: tuple[str, str], state: Mapping[str, object]
) -> dict[str, object]:
    return {
        "name": "bench",
        "kafka": {"bootstrap_servers": servers},
        "sources": [{"topic": topics[0]}],
        "outputs": {"allow": [topics[1]]},
        "dead_letter": {"topic": f"{topics[0]}.dead"},
        "internal": {"topic": f"{topics[0]}.internal"},
        "pipeline": {"checkpoint": str(folder / "checkpoint")},
        "state": dict(state),
    }
