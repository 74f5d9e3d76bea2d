"""A process that reads the output of a soak: ``python -m bench.soak_observer PLAN.json``.

It knows nothing of the job. Each message becomes one entry of a file (SEEN): its number, which
occurrence it is, when it was due and when the broker appended it. It rides out a broker that is
gone, and is ended from outside.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
from confluent_kafka import Consumer, Message

SEEN = np.dtype([("number", "<i8"), ("occurrence", "<i4"), ("due", "<i8"), ("at", "<i8")])


def main() -> None:
    """Read for ever; ``caught_up`` is written anew whenever there is nothing more to read."""
    plan = json.loads(Path(sys.argv[1]).read_text())
    consumer = Consumer(
        {
            "bootstrap.servers": plan["servers"],
            "group.id": f"observer-{plan['output']}",
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "log_level": 0,
        }
    )
    consumer.subscribe([plan["output"]])
    caught_up = Path(plan["caught_up"])
    at_end: set[int] = set()
    with Path(plan["seen"]).open("ab") as seen:
        while True:
            messages = consumer.consume(2000, 0.5)
            arrived = [message for message in messages if message.error() is None]
            at_end -= {message.partition() for message in arrived}
            at_end |= {m.partition() for m in messages if m.error() and m.partition() >= 0}
            if arrived:
                np.array([_entry(message) for message in arrived], SEEN).tofile(seen)
                seen.flush()
            elif len(at_end) == plan["partitions"]:
                caught_up.write_text(str(time.time()))


def _entry(message: Message) -> tuple[int, int, int, int]:
    body = json.loads(message.value())
    occurrence = 1
    if body["every"]:
        occurrence = int(dict(message.headers())["duestream-occurrence"])
    due = body["due"] + body["every"] * (occurrence - 1)
    return body["n"], occurrence, due, message.timestamp()[1]


if __name__ == "__main__":
    main()
