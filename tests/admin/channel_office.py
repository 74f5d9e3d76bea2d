"""Channels as tests find them: a real job, real topics, and servers in threads or processes."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from pipeline.admin.others import others
from pipeline.admin.together import beside
from pipeline.config.settings import Settings
from pipeline.config.show import as_yaml
from tests.integration.running import Place, wait_for
from tests.pages import ROOT

_SERVING = re.compile(r"serving channels on (http://\S+)/")


@dataclass(frozen=True)
class Channels:
    """Where channels are served, and the place the job runs at."""

    url: str
    place: Place

    def ask(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=60, **options)


@contextmanager
def served(settings: Settings) -> Iterator[str]:
    """Serve channels in threads of the test; yield their address."""
    apps = others(settings)
    host, port = apps[-1].listening.getsockname()[:2]
    with beside(apps):
        yield f"http://{host}:{port}"


class Process:
    """A real ``duestream serve``, which can be killed and started again."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._log = folder / "serve.log"
        self._file = folder / "serve.yaml"
        self._file.write_text(as_yaml(settings))
        self._running: subprocess.Popen[bytes] | None = None

    def start(self) -> str:
        """Start it, wait until it serves, and return the address of the channels."""
        command = [sys.executable, "-m", "pipeline.cli.main", "serve", "--config", str(self._file)]
        with self._log.open("wb") as log:
            self._running = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        wait_for(lambda: self._told() is not None or self._over(), "duestream serve to start")
        address = self._told()
        assert address is not None, self._log.read_text()
        return address

    def kill(self) -> None:
        """End it by SIGKILL."""
        if self._running is not None:
            self._running.kill()
            self._running.wait()
            self._running = None

    def stop(self) -> int:
        """End it by SIGTERM, and return its exit code."""
        assert self._running is not None
        self._running.terminate()
        return self._running.wait(60)

    def _told(self) -> str | None:
        found = _SERVING.search(self._log.read_text())
        return found[1] if found else None

    def _over(self) -> bool:
        return self._running is None or self._running.poll() is not None


def events_of(client: httpx.Client, channel: str) -> list[dict[str, Any]]:
    answer = client.get(f"/{channel}/events/")
    assert answer.status_code == 200
    told = answer.json()
    assert told.keys() == {"channelName", "count", "events"}
    assert (told["channelName"], told["count"]) == (channel, len(told["events"]))
    events: list[dict[str, Any]] = told["events"]
    return events


def posted(client: httpx.Client, channel: str, **body: Any) -> dict[str, Any]:
    answer = client.post(f"/{channel}/events/", json={"data": "d", **body})
    assert answer.status_code == 201, answer.text
    event: dict[str, Any] = answer.json()
    assert event.keys() == {"eventID", "publishedAt", "data", "livesUntil", "isLocked"}
    return event


def lock(client: httpx.Client, channel: str, event: str, **body: Any) -> int:
    return client.patch(f"/{channel}/events/{event}", json={"action": "LOCK", **body}).status_code


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
