"""A batch gives way while much is overdue, though not for ever, and not to a job that stops."""

import threading
import time

import pytest

from pipeline.outbox.lane import Flush
from pipeline.outbox.outbox import Outbox
from pipeline.outbox.publisher import Published
from tests.integration.rows import claimed

NOW = 1_000_000
LONG = 60.0


class Gate:
    """A publisher that lets nothing pass until it is opened."""

    def __init__(self) -> None:
        self.opened = threading.Event()

    def publish(self, flush: Flush) -> Published:
        self.opened.wait(LONG)
        return Published(NOW, [None] * len(flush.items), {})

    def close(self) -> None:
        """Nothing to let go of."""


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def outbox(gate: Gate):
    made = Outbox([gate], 0.0, threading.Event(), lambda: NOW)
    claims = claimed(
        key=[b"%d" % n for n in range(20)], due=[NOW - 1] * 20, output_topic=["out"] * 20
    )
    made.begin(claims, 1, [-1])
    yield made
    gate.opened.set()
    made.stop()


def test_it_waits_until_little_is_overdue(
    outbox: Outbox, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.outbox.outbox._STUCK", LONG)
    threading.Timer(0.2, gate.opened.set).start()
    outbox.ease(10, LONG)
    assert gate.opened.is_set()


def test_it_does_not_wait_for_a_lane_that_does_not_get_on(outbox: Outbox, gate: Gate) -> None:
    outbox.ease(10, LONG)
    assert not gate.opened.is_set()


def test_it_does_not_wait_for_little(outbox: Outbox, gate: Gate) -> None:
    outbox.ease(20, LONG)
    assert not gate.opened.is_set()


def test_it_waits_for_a_moment_only(outbox: Outbox, gate: Gate) -> None:
    begun = time.monotonic()
    outbox.ease(10, 0.1)
    assert time.monotonic() - begun >= 0.1
    assert not gate.opened.is_set()


def test_it_does_not_wait_in_a_job_that_stops(outbox: Outbox, gate: Gate) -> None:
    outbox.give_up()
    outbox.ease(10, LONG)
    assert not gate.opened.is_set()
