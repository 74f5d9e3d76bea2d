"""Reads processor time and memory of a tree of processes from /proc."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_FOLD = b"fold_process"


class Process(NamedTuple):
    """One process at one moment; ``begun`` tells it from another with the same id."""

    pid: int
    begun: int
    part: str  # python, jvm or fold
    cpu: float  # seconds so far
    rss: int  # bytes


def tree(root: int) -> Iterator[Process]:
    """Look at a process and all below it; one that ends meanwhile is left out."""
    ids, seen = [root], set()
    while ids:
        pid = ids.pop()
        if pid in seen:
            continue
        seen.add(pid)
        with contextlib.suppress(OSError):  # it has just ended
            yield _look(pid)
            ids += _children(pid)


def cpu_seconds(root: int) -> float:
    """Return the processor time that a process and all below it have used so far."""
    return sum(process.cpu for process in tree(root))


def _look(pid: int) -> Process:
    # The name in parentheses may hold blanks: what counts comes after it.
    fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    cpu = (int(fields[11]) + int(fields[12])) / _TICK
    return Process(pid, int(fields[19]), _part(pid), cpu, int(fields[21]) * _PAGE)


def _part(pid: int) -> str:
    command = (_PROC / str(pid) / "cmdline").read_bytes()
    if _FOLD in command:
        return "fold"
    return "jvm" if command.split(b"\0", 1)[0].endswith(b"java") else "python"


def _children(pid: int) -> Iterator[int]:
    for thread in (_PROC / str(pid) / "task").iterdir():
        with contextlib.suppress(OSError):
            yield from map(int, (thread / "children").read_text().split())
