"""A child process on a leash: it ends when it is told to, and when this process ends."""

import contextlib
import subprocess
import sys
from pathlib import Path
from typing import IO, Literal

from pipeline import leash
from state.errors import SetupError


class Leashed:
    """Starts ``command`` with its output in ``log``; see pipeline.leash for how it is held.

    If this process dies and leaves the command behind, ``folder`` is removed after it.
    """

    def __init__(self, command: list[str], log: Path, folder: Path | None = None) -> None:
        held = [sys.executable, "-I", "-S", leash.__file__, str(log), str(folder or ""), *command]
        self._process = subprocess.Popen(  # noqa: S603
            held,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,  # Ctrl-C in a terminal is for this process alone
        )
        line = _pipe(self._process.stdout).readline()
        if not line:
            self.end("kill")
            raise SetupError(f"{command[0]} could not be started")
        self.pid = int(line)

    @property
    def alive(self) -> bool:
        """Whether the command still runs."""
        return self._process.poll() is None

    def wait(self) -> None:
        """Wait until the command ends by itself."""
        self._process.wait()

    def end(self, order: Literal["stop", "kill"]) -> None:
        """End the command, politely or at once, and return when it is gone."""
        orders = _pipe(self._process.stdin)
        with contextlib.suppress(BrokenPipeError, ValueError):  # it has ended by itself, or before
            orders.write(order.encode())
        orders.close()
        self._process.wait()
        _pipe(self._process.stdout).close()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # noqa: S101
    return pipe
