"""The tick with a real store and real lanes, and neither Spark, Kafka nor threads around it."""

import threading
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from build import SECOND, at, cancel, put

import pipeline.tick
from pipeline.backlog import Backlog
from pipeline.commands import Command
from pipeline.control import Control
from pipeline.horizon import Horizon
from pipeline.latest import latest
from pipeline.measure import Measure
from pipeline.outbox.lane import Flush
from pipeline.outbox.outbox import Outbox
from pipeline.raw import CONTROL, TIMED_COMMANDS
from pipeline.tick import Ticker
from state.memory import MemoryStore
from state.row import Entry, Kind
from state.rules.asked import Asked, read_asked
from state.rules.policy import Policy

AHEAD = 10  # seconds that the desk claims ahead


class Desk:
    """Takes lines batch by batch; ``release`` lets go of what is due."""

    def __init__(self) -> None:
        self.store = MemoryStore(10**15)
        self.now = 0.0
        self.outbox = Outbox([None], 0, threading.Event(), lambda: at(self.now))
        horizon = Horizon(AHEAD * SECOND, AHEAD * SECOND)
        backlog = Backlog(1000, 1000, {})
        self.ticker = Ticker(self.store, self.outbox, horizon, backlog, Measure())
        self.batch = -1

    def tick(self, *lines: dict[str, Any], now: float | None = None) -> None:
        self.now = self.now if now is None else now
        self.batch += 1
        clock = {"entry": Entry.CLOCK.value}
        timed = [line | {"batch_time": at(self.now)} for line in (*lines, clock)]
        table = pa.Table.from_pylist(timed, schema=TIMED_COMMANDS)
        with patch.object(pipeline.tick, "now_micros", lambda: at(self.now)):
            self.ticker(lambda: latest(table), self.batch)

    def release(self, now: float) -> list[tuple[str, bytes]]:
        """Let go of what is due, and return where to and what."""
        self.now = now
        lane = self.outbox._workers[0].lane
        flush = lane.release(at(now)) or Flush([], None)
        if flush.items:
            lane.published(flush)
        return [(i.chunk.topic[i.index], i.chunk.payload[i.index]) for i in flush.items]

    def rows(self, key: bytes, kind: str = Kind.MESSAGE) -> list[dict[str, Any]]:
        return [r for r in self.store.versions(key).to_pylist() if r["kind"] == kind]

    def statuses(self, key: bytes) -> list[str]:
        return [r["status"] for r in self.rows(key)]

    def effects(self, key: bytes) -> list[str]:
        return [r["reason"] for r in self.rows(key, Kind.COMMAND)]


def asking(key: bytes, offset: int, payload: bytes = b"x", due: float | None = None, **asked: str):
    """A put that asks for something; its record was sent at second ``offset``."""
    read = read_asked(
        asked,
        names=None,
        due=None if due is None else at(due),
        timestamp=at(offset),
        payload=payload,
        allow_forever=True,
    )
    assert isinstance(read, Asked), read
    line = put(key, offset, 0, payload=payload)
    return line | {"due": read.due, "policy": read.policy.to_json()}


def order(command: Command, key: bytes | None, offset: int, **said: Any) -> dict[str, Any]:
    """A command, sent at second ``offset``."""
    control = Control(command, f"e{offset}", "ada", **said)
    line = cancel(key or b"", offset) | {"entry": CONTROL, "policy": control.to_json()}
    return line if key else line | {"key": None, "identity": None}


def policy_of(row: dict[str, Any]) -> Policy:
    return Policy.from_json(row["policy"])
