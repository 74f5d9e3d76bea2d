"""A process that sends events: ``python -m bench.load`` with one JSON object on stdin."""

import json
import random
import sys
import time

from confluent_kafka import Producer

from bench.events import Record, keeping, record

_SLICE = 0.02  # seconds


def main() -> None:
    """Send ``count`` events at ``rate`` a second (0: as fast as possible), due as told."""
    plan = json.load(sys.stdin)
    chance = random.Random(plan["seed"])
    producer = Producer(
        {
            "bootstrap.servers": plan["servers"],
            "linger.ms": 20,
            "partitioner": "murmur2_random",
            "queue.buffering.max.messages": 1_000_000,
        }
    )
    begun = time.time()
    for n in range(plan["first"], plan["first"] + plan["count"]):
        _pace(begun, n - plan["first"], plan["rate"])
        due = plan.get("at") or time.time() * 1000 + chance.uniform(*plan["ahead"]) * 1000
        if plan.get("at"):
            due += chance.uniform(0, plan["spread"]) * 1000
        _send(producer, plan["input"], *_event(n, int(due), plan))
    producer.flush()
    json.dump({"seconds": time.time() - begun}, sys.stdout)


def _event(n: int, due: int, plan: dict) -> Record:
    """Return the event; with ``keep`` every other one is of a key that is pending since long."""
    if "keep" not in plan:
        return record(n, due, plan["output"])
    return keeping(record(n, due, plan["output"], plan["keep"] + n if n % 2 else None))


def _pace(begun: float, sent: int, rate: float) -> None:
    if rate:
        early = begun + sent / rate - time.time()
        if early > _SLICE:
            time.sleep(early)


def _send(producer: Producer, topic: str, key: bytes, value: bytes, headers: list) -> None:
    while True:
        try:
            producer.produce(topic, value, key, headers=headers)
            producer.poll(0)
            return
        except BufferError:
            producer.poll(0.1)


if __name__ == "__main__":
    main()
