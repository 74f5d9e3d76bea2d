"""The load of the soak: schedules, replacements, cancels, repeats, bursts, bulks and bad events.

Everything is numbered and drawn from a seed; what was asked for is kept in a few bytes a message,
so that hours of it fit into memory.
"""

import json
import random
import time
from array import array
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pipeline.client import Client, Repeat

SURE_MS = 60_000  # a message withdrawn so long before its instant must not come out
_LATER = (100.0, 160.0)  # seconds ahead: what may be withdrawn
_WITHDRAW_WITHIN = 20.0  # seconds after it was sent
_SOON = (1.0, 40.0)
_TEXT = "x" * 150
_BAD_HEADERS = [("ce_specversion", b"1.0"), ("ce_id", b"bad"), ("ce_deliverat", b"whenever")]


@dataclass
class Asked:
    """What was asked for, by number."""

    due: array = field(default_factory=lambda: array("q"))  # milliseconds
    withdrawn: array = field(default_factory=lambda: array("q"))  # when; 0: never
    count: array = field(default_factory=lambda: array("i"))  # occurrences
    every: array = field(default_factory=lambda: array("i"))  # milliseconds from one to the next
    bad: int = 0

    @property
    def accepted(self) -> int:
        """How many messages a state must know in the end, each occurrence one."""
        return sum(self.count)

    def new(self, due: int, count: int = 1, every: int = 0) -> int:
        """Note a message and return its number."""
        self.due.append(due)
        self.withdrawn.append(0)
        self.count.append(count)
        self.every.append(every)
        return len(self.due) - 1


class SoakLoad:
    """Sends ``rate`` events a second, and now and then many at once."""

    def __init__(self, client: Client, topic: str, rate: float, chance: random.Random) -> None:
        self.asked = Asked()
        self._client = client
        self._topic = topic
        self._rate = rate
        self._chance = chance
        self.begun = time.monotonic()
        self._steps = 0
        self._waiting: deque[tuple[float, int, int]] = deque()  # sent at, number, key
        self._burst_at = chance.uniform(20, 40)
        self._bulk_at = chance.uniform(40, 80)

    def send(self) -> None:
        """Send what is to be sent by now."""
        past = time.monotonic() - self.begun
        while self._steps < past * self._rate:
            self._steps += 1
            self._one(self._chance.random())
        if past >= self._burst_at:  # all at one instant
            at = _now() + 10_000
            self._many(int(20 * self._rate), lambda: at)
            self._burst_at = past + self._chance.uniform(45, 75)
        if past >= self._bulk_at:  # all sent at once, due over a minute
            self._many(int(50 * self._rate), lambda: self._ahead((1.0, 60.0)))
            self._bulk_at = past + self._chance.uniform(90, 150)

    def flush(self) -> None:
        """Wait until Kafka has it all."""
        self._client.flush()

    def _one(self, lot: float) -> None:
        old = self._withdrawable() if lot >= 0.8 else None
        if lot < 0.68 or (0.8 <= lot < 0.96 and old is None):
            self._put(self._ahead(_SOON))
        elif lot < 0.8:
            number = self._put(self._ahead(_LATER))
            self._waiting.append((time.monotonic(), number, number))
        elif lot < 0.9 and old is not None:
            self._withdraw(old[0])
            self._put(self._ahead(_SOON), key=old[1])
        elif lot < 0.96 and old is not None:
            self._withdraw(old[0])
            self._client.cancel(f"key-{old[1]}", wait=False)
        elif lot < 0.975:
            self._repeat()
        else:
            self._bad()

    def _put(self, due: int, key: int | None = None) -> int:
        number = self.asked.new(due)
        self._schedule(number, number if key is None else key, due)
        return number

    def _schedule(
        self, number: int, key: int, due: int, repeat: Repeat | None = None, every: int = 0
    ) -> None:
        self._client.schedule(
            json.dumps({"n": number, "due": due, "every": every, "text": _TEXT}),
            topic=self._topic,
            key=f"key-{key}",
            at=datetime.fromtimestamp(due / 1000, UTC),
            repeat=repeat,
            wait=False,
        )

    def _many(self, count: int, due: Callable[[], int]) -> None:
        for _ in range(count):
            self._put(due())

    def _withdrawable(self) -> tuple[int, int] | None:
        """Return number and key of a message that is due long after now, oldest first."""
        while self._waiting:
            sent, number, key = self._waiting.popleft()
            if time.monotonic() - sent < _WITHDRAW_WITHIN:
                return number, key
        return None

    def _withdraw(self, number: int) -> None:
        self.asked.withdrawn[number] = _now()

    def _repeat(self) -> None:
        first, every = self._ahead(_SOON), self._chance.randrange(500, 3_000)
        count = self._chance.randrange(3, 8)
        number = self.asked.new(first, count, every)
        repeat = Repeat(every=f"{every}ms", count=count, on_miss="all")
        self._schedule(number, number, first, repeat, every)

    def _bad(self) -> None:
        """Send what cannot be read, under a key that waits: it must not be harmed."""
        key = self._waiting[-1][2] if self._waiting else 0
        self._client.forward(f"key-{key}".encode(), b"bad", _BAD_HEADERS, wait=False)
        self.asked.bad += 1

    def _ahead(self, seconds: tuple[float, float]) -> int:
        return _now() + int(self._chance.uniform(*seconds) * 1000)


def _now() -> int:
    return time.time_ns() // 1_000_000
