"""A process that sends events: ``python -m bench.load`` with one JSON object on stdin.

Besides where to: ``first`` and ``count`` number the events; ``rate`` a second (0: as fast as it
goes); due ``ahead`` (from, to) seconds after they are sent, or ``at`` an instant and within
``spread`` seconds of it. The key has the event's number plus ``shift``, or is ``one_key`` for all.
``cancel``: withdraws these keys instead. ``keep``: is ignored while its key is pending.
"""

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from confluent_kafka import Producer

from bench.events import Headers, Ints, keeping, records

_PAUSE = 0.01  # seconds; what falls due to be sent meanwhile is sent at once
_MOST = 2_000


def main() -> None:
    """Send what the plan says, and tell when that was."""
    plan = json.load(sys.stdin)
    producer = Producer(
        {
            "bootstrap.servers": plan["servers"],
            "linger.ms": 5,
            "partitioner": "murmur2_random",
            "queue.buffering.max.messages": 1_000_000,
        }
    )
    begun = time.time()
    for event in _events(plan, begun):
        _send(producer, plan["input"], *event)
    producer.flush()
    json.dump({"begun": begun, "seconds": time.time() - begun}, sys.stdout)


def _events(plan: dict[str, Any], begun: float) -> Iterator[tuple[bytes, bytes | None, Headers]]:
    chance = np.random.default_rng(plan["seed"])
    for numbers in _paced(plan["first"], plan["count"], plan["rate"], begun):
        keys = numbers + plan.get("shift", 0)
        if "one_key" in plan:
            keys = np.full_like(numbers, plan["one_key"])
        made = records(numbers, _dues(plan, len(numbers), chance), keys, plan["output"], chance)
        for key, value, headers in made:
            if plan.get("cancel"):
                yield key, None, []
            else:
                yield key, value, keeping(headers) if plan.get("keep") else headers


def _paced(first: int, count: int, rate: float, begun: float) -> Iterator[Ints]:
    """Return the numbers whose turn it is, again and again."""
    sent = 0
    while sent < count:
        turn = int((time.time() - begun) * rate) if rate else count
        upto = min(turn, count, sent + _MOST)
        if upto > sent:
            yield np.arange(first + sent, first + upto)
            sent = upto
        else:
            time.sleep(_PAUSE)


def _dues(plan: dict[str, Any], count: int, chance: np.random.Generator) -> Ints:
    """Return instants in milliseconds."""
    if plan.get("at"):
        return (plan["at"] + chance.uniform(0, plan["spread"] * 1000, count)).astype(np.int64)
    soonest, latest = plan["ahead"]
    ahead = chance.uniform(soonest * 1000, latest * 1000, count)
    return (time.time() * 1000 + ahead).astype(np.int64)


def _send(
    producer: Producer, topic: str, key: bytes, value: bytes | None, headers: Headers
) -> None:
    while True:
        try:
            producer.produce(topic, value, key, headers=headers)
            producer.poll(0)
            return
        except BufferError:
            producer.poll(0.1)


if __name__ == "__main__":
    main()
