"""A process that reads the output topic as a committed reader would, and checks every message.

``python -m bench.observe`` with one JSON object on stdin; prints a line when it is ready and one
JSON object at the end. It knows nothing of the job: lateness is the broker's append time minus the
due instant in the payload. ``expect``: ranges (first, count) of the numbers that are to come, each
once; ``own``: the range of all numbers that were sent here. Whatever else comes is unwanted: what
is pending far ahead, or was out before.
"""

import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from confluent_kafka import Consumer, TopicPartition

from bench.events import Ints, read_all
from bench.late import during, faults, lateness

_AT_ONCE = 10_000
_LINGER = 2.0  # seconds: what comes twice comes after all came once


_GROUP = Path("/proc/self/autogroup")  # where Linux shares out processors by sessions


def main() -> None:
    """Read until all came, and a little longer, or none came for ``patience`` seconds."""
    _stand_back()
    plan = json.load(sys.stdin)
    consumer = _at_the_end(plan["servers"], plan["output"])
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    seen, wanted = Seen(plan["own"]), sum(count for _, count in plan["expect"])
    last, full = time.monotonic(), None
    parent = os.getppid()
    while (full is None or time.monotonic() - full < _LINGER) and os.getppid() == parent:
        came = seen.add(consumer.consume(_AT_ONCE, 0.5))
        last = time.monotonic() if came else last
        if full is None and seen.count >= wanted and seen.different(plan["expect"]) == wanted:
            full = time.monotonic()
        if full is None and time.monotonic() - last > plan["patience"]:
            break
    consumer.close()
    numbers, due, appended = seen.columns()
    np.savez(plan["file"], due=due, appended=appended)
    report = _report(plan, numbers, due, appended)
    json.dump(report | {"unwanted": report["unwanted"] + seen.strays}, sys.stdout)


def _stand_back() -> None:
    """Leave the processors to the others: append times are the broker's, it may read later."""
    os.nice(19)
    with suppress(OSError):  # on Linux being nice may count only among those of one session
        os.setsid()
        _GROUP.write_text("19")


class Seen:
    """What came, column by column."""

    def __init__(self, own: tuple[int, int]) -> None:
        self._first, self._end = own[0], own[0] + own[1]
        self._parts: list[tuple[Ints, Ints, Ints]] = []
        self.count = 0
        self.strays = 0

    def add(self, messages: list[Any]) -> int:
        """Keep what is ours and return how many that were; count the rest."""
        if not messages:
            return 0
        numbers, due = read_all([message.value() for message in messages])
        appended = np.array([message.timestamp()[1] for message in messages])
        ours = (numbers >= self._first) & (numbers < self._end)
        self._parts.append((numbers[ours], due[ours], appended[ours]))
        came = int(ours.sum())
        self.count += came
        self.strays += len(numbers) - came
        return came

    def different(self, ranges: list[tuple[int, int]]) -> int:
        """Count the numbers within some ranges that came at least once."""
        numbers = np.unique(self.columns()[0])
        return sum(int(((numbers >= at) & (numbers < at + n)).sum()) for at, n in ranges)

    def columns(self) -> tuple[Ints, Ints, Ints]:
        """Return numbers, due instants and append times."""
        none = np.zeros(0, np.int64)
        numbers, due, appended = zip((none, none, none), *self._parts, strict=True)
        return np.concatenate(numbers), np.concatenate(due), np.concatenate(appended)


def _at_the_end(servers: str, topic: str) -> Consumer:
    """Return a consumer that reads what comes from now on."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": f"observer-{topic}",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            # Append times tell the lateness: there is no hurry, and the broker has other work.
            "fetch.min.bytes": 1_000_000,
            "fetch.wait.max.ms": 500,
        }
    )
    partitions = consumer.list_topics(topic, 30).topics[topic].partitions
    places = [TopicPartition(topic, number) for number in partitions]
    for place in places:
        place.offset = consumer.get_watermark_offsets(place, 30)[1]
    consumer.assign(places)
    return consumer


def _report(plan: dict[str, Any], numbers: Ints, due: Ints, appended: Ints) -> dict[str, Any]:
    report: dict[str, Any] = {"messages": len(numbers)} | faults(plan["expect"], numbers)
    report |= {"early": int((appended < due).sum())}
    if not len(numbers):
        return report
    return report | {
        "late_ms": lateness(appended - due),
        "by_second": during(appended - due, appended),
        "first_ms": int(appended.min()),
        "last_ms": int(appended.max()),
    }


if __name__ == "__main__":
    main()
