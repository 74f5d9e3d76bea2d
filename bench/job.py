"""The job under test: ``duestream run`` as a process, with the times of its ticks in a file."""

import json
import sys
import time
from pathlib import Path

import psutil
import yaml

from pipeline.leashed import Leashed

_READY = "running;"
_PATIENCE = 180.0


class Job:
    """Runs with a state of its own, its files below ``folder``."""

    def __init__(
        self, folder: Path, servers: str, topics: tuple[str, str], state: dict[str, object]
    ) -> None:
        folder.mkdir(parents=True)
        self._ticks = folder / "ticks.jsonl"
        self._log = folder / "job.log"
        settings = folder / "duestream.yaml"
        settings.write_text(yaml.safe_dump(_settings(folder, servers, topics, state)))
        run = [sys.executable, "-m", "pipeline.cli.main", "run"]
        self._command = [*run, "--config", str(settings), "--measure", str(self._ticks)]
        self.start()

    def start(self) -> None:
        """Start it, for the first time or again on what it left."""
        self._log.unlink(missing_ok=True)
        self._process = Leashed(self._command, self._log)
        self._wait_until_ready()

    def ticks(self) -> list[dict]:
        """Return what the job noted of each tick so far."""
        if not self._ticks.exists():
            return []
        return [
            json.loads(line) for line in self._ticks.read_text().splitlines() if line[-1:] == "}"
        ]

    def wait_for_commands(self, count: int) -> None:
        """Wait until the job has taken ``count`` commands."""
        while sum(tick["commands"] for tick in self.ticks()) < count:
            self._alive()
            time.sleep(0.5)

    def cpu_seconds(self) -> float:
        """Return the processor time used so far, Python and JVM together."""
        root = psutil.Process(self._process.pid)
        times = [each.cpu_times() for each in [root, *root.children(recursive=True)]]
        return sum(t.user + t.system for t in times)

    def stop(self) -> None:
        """End it cleanly."""
        self._process.end("stop")

    def _wait_until_ready(self) -> None:
        give_up = time.monotonic() + _PATIENCE
        while not self._log.exists() or _READY not in self._log.read_text():
            self._alive()
            if time.monotonic() > give_up:
                raise SystemExit(f"the job does not start; see {self._log}")
            time.sleep(0.2)

    def _alive(self) -> None:
        if not self._process.alive:
            raise SystemExit(f"the job ended:\n{self._log.read_text()[-2000:]}")


def _settings(
    folder: Path, servers: str, topics: tuple[str, str], state: dict[str, object]
) -> dict:
    return {
        "name": "bench",
        "kafka": {"bootstrap_servers": servers},
        "sources": [{"topic": topics[0]}],
        "outputs": {"allow": [topics[1]]},
        "dead_letter": {"topic": f"{topics[0]}.dead"},
        "internal": {"topic": f"{topics[0]}.internal"},
        "pipeline": {"checkpoint": str(folder / "checkpoint")},
        "state": state,
    }
