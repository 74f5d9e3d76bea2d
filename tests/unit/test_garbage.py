"""Garbage is collected when nothing is due, and not before."""

import gc
from collections.abc import Iterator

import pytest

from pipeline import garbage
from pipeline.garbage import Sweeper


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """Return a clock to be set; the collector is as it was afterwards."""
    now = [1000.0]
    monkeypatch.setattr(garbage.time, "monotonic", lambda: now[0])
    yield now
    gc.enable()
    gc.unfreeze()


class Ring:
    """Refers to itself: only the collector finds it."""

    left = 0

    def __init__(self) -> None:
        self.me = self
        Ring.left += 1

    def __del__(self) -> None:
        Ring.left -= 1


def test_it_waits_for_a_quiet_moment_but_not_for_ever(clock: list[float]) -> None:
    sweeper = Sweeper()
    assert not gc.isenabled()
    Ring()
    sweeper.sweep(quiet=True)  # too soon
    clock[0] += 61
    sweeper.sweep(quiet=False)
    assert Ring.left == 1
    sweeper.sweep(quiet=True)
    assert Ring.left == 0
    Ring()
    clock[0] += 901
    sweeper.sweep(quiet=False)
    assert Ring.left == 0
    sweeper.close()
    assert gc.isenabled()
