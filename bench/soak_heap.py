"""Asks a running Java what lives in its heap, as jcmd does; it collects garbage before it answers.

The resident memory of Java tells little: garbage stays in the heap until there is no more room.
"""

import contextlib
import os
import signal
import socket
import time
from pathlib import Path

# Beside the live heap: all of it is touched at the start, so that whatever memory rises afterwards
# is not the heap that fills.
TOUCHED = "-Xms1g -XX:+AlwaysPreTouch"

_PATIENCE = 10.0  # seconds
_ASKED = (b"1", b"jcmd", b"GC.class_histogram", b"", b"")


def live_mb(pid: int) -> float | None:
    """Return megabytes of live objects; None if Java does not answer.

    It must be up: one that has just begun would be ended by the signal that asks it to listen.
    """
    try:
        answer = _ask(pid)
    except OSError:  # it has ended, or is too busy
        return None
    total = [line.split() for line in answer.splitlines() if line.startswith("Total")]
    return float(total[-1][2]) / 1e6 if total else None


def _ask(pid: int) -> str:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
        door.settimeout(_PATIENCE)
        door.connect(str(_door(pid)))
        door.sendall(b"\0".join(_ASKED) + b"\0")
        parts = iter(lambda: door.recv(65_536), b"")
        return b"".join(parts).decode(errors="replace")


def _door(pid: int) -> Path:
    """Return the socket that Java listens on; it opens one when it is asked to."""
    at = Path(f"/proc/{pid}/root/tmp/.java_pid{pid}")
    if at.exists():
        return at
    wish = Path(f"/proc/{pid}/cwd/.attach_pid{pid}")
    wish.touch()
    try:
        os.kill(pid, signal.SIGQUIT)
        give_up = time.monotonic() + _PATIENCE
        while not at.exists() and time.monotonic() < give_up:
            time.sleep(0.05)
    finally:
        with contextlib.suppress(OSError):
            wish.unlink()
    return at
