"""Runs a command that must not outlive the process which asked for it, however that one ends.

Started as a program of its own: ``python leash.py LOG FOLDER COMMAND...``. It prints the command's
process id and then listens on stdin: ``stop`` ends the command politely, ``kill`` at once. When
stdin closes or the parent is gone, nobody is left to ask: the command is ended, and FOLDER (if it
is not empty text) removed. Being the command's parent, it can never signal a stranger that was
given the same process id.
"""

import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

PATIENCE = 20.0
POLL = 0.25
_POLITE = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PR_SET_PDEATHSIG = 1


def main(log: str, folder: str, command: list[str]) -> int:
    """Run ``command`` until it ends or the leash is pulled, and return its exit code."""
    for number in _POLITE:
        signal.signal(number, signal.SIG_IGN)
    parent = os.getppid()
    child = _start(command, Path(log))
    os.write(1, f"{child.pid}\n".encode())
    order = _next_order(child, parent)
    if order == "kill":
        child.kill()
    elif order is not None:
        _end(child)
    if order == "orphan" and folder:
        shutil.rmtree(folder, ignore_errors=True)
    return child.wait()


def _start(command: list[str], log: Path) -> "subprocess.Popen[bytes]":
    with log.open("ab") as output:
        return subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            # Safe here: this program has one thread, so no lock can be taken while it forks.
            preexec_fn=_in_the_child,
        )


def _in_the_child() -> None:
    for number in _POLITE:
        signal.signal(number, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _next_order(child: "subprocess.Popen[bytes]", parent: int) -> str | None:
    while child.poll() is None:
        readable, _, _ = select.select([0], [], [], POLL)
        if readable:
            return os.read(0, 16).decode().strip() or "orphan"
        if os.getppid() != parent:
            return "orphan"
    return None


def _end(child: "subprocess.Popen[bytes]") -> None:
    child.terminate()
    try:
        child.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
