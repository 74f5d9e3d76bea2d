"""Runs the job and the console of the demo as processes, each with its log in a file."""

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

from state.errors import DuestreamError

_READY = "running;"
_SERVING = re.compile(r"serving on (http://\S+)")
_PORT = 8700  # where the console is, unless something else is there


class CommandProcess:
    """A command of duestream, as a person would start it, with its log in a file."""

    def __init__(self, name: str, command: list[str], log: Path) -> None:
        self._name = name
        self._log = log
        clean = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith("DUESTREAM_") or k == "DUESTREAM_CACHE"
        }
        with log.open("wb") as file:
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-m", "pipeline.cli.main", *command],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                env=clean,
                start_new_session=True,  # Ctrl-C is for the demo, which then ends its processes
            )

    def said(self) -> str:
        """Return the log so far; DuestreamError if the process ended."""
        if self._process.poll() is not None:
            words = self._last_words()
            raise DuestreamError(f"{self._name} ended: {words}; its log is {self._log}")
        return self._log.read_text(encoding="utf-8", errors="replace")

    def stop(self) -> None:
        """End it as an operator would, and wait."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _last_words(self) -> str:
        lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"


class JobProcess(CommandProcess):
    """The job as ``duestream run`` starts it."""

    def __init__(self, settings: Path, log: Path) -> None:
        super().__init__("the job", ["run", "--config", str(settings)], log)

    def ready(self) -> bool:
        """Tell whether the job has begun to tick; DuestreamError if it ended instead."""
        return _READY in self.said()


class ConsoleProcess(CommandProcess):
    """The console as ``duestream serve`` starts it, on its usual port if that is free."""

    def __init__(self, settings: Path, log: Path) -> None:
        port = f"admin.port={_PORT if _is_free(_PORT) else 0}"
        super().__init__("the console", ["serve", "--config", str(settings), "--set", port], log)

    def ready(self) -> bool:
        """Tell whether it serves; DuestreamError if it ended instead."""
        return _SERVING.search(self.said()) is not None

    @property
    def address(self) -> str:
        """Where it serves."""
        found = _SERVING.search(self.said())
        return found[1] if found else ""


def free_port() -> int:
    """Return a port that nothing listens on by now."""
    with socket.socket() as trying:
        trying.bind(("127.0.0.1", 0))
        return int(trying.getsockname()[1])


def _is_free(port: int) -> bool:
    with socket.socket() as trying:
        trying.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trying.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
