"""A crash point kills the process that reaches it, when told to and not otherwise."""

import os
import signal
import subprocess
import sys

import pytest

from pipeline.config.load import load_settings
from state.crashpoint import CRASH_AT, Point

_PROGRAM = """
from state.crashpoint import Point, reach
for n in range(3):
    print(n, flush=True)
    reach(Point.AFTER_READ)
    reach(Point.AFTER_TICK, lambda: print("last act", flush=True))
"""


def run(crash_at: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, CRASH_AT: crash_at}
    command = [sys.executable, "-c", _PROGRAM]
    return subprocess.run(command, env=environ, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("crash_at", "printed"),
    [("after_read", "0"), ("after_read:3", "0 1 2"), ("after_tick:2", "0 1 last act")],
)
def test_a_process_dies_at_the_point_that_is_named(crash_at: str, printed: str) -> None:
    done = run(crash_at)
    assert done.returncode == -signal.SIGKILL
    assert done.stdout.split() == printed.split()
    assert f"crash point {crash_at.partition(':')[0]} is reached" in done.stderr


@pytest.mark.parametrize("crash_at", ["", "before_commit", "after_read:4"])
def test_a_process_lives_on_when_the_point_is_not_reached_so_often(crash_at: str) -> None:
    done = run(crash_at)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["0", "1", "2"], "")


def test_the_variable_is_no_misspelt_setting() -> None:
    load_settings(environ={CRASH_AT: Point.AFTER_READ})
