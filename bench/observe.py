"""A process that reads the output topic as a committed reader would, and checks every message.

``python -m bench.observe`` with one JSON object on stdin; prints one JSON object at the end. It
knows nothing of the job: lateness is the broker's append time minus the due instant in the payload.
"""

import json
import sys
import time

import numpy as np
from confluent_kafka import Consumer

from bench.events import read


def main() -> None:
    """Read until ``count`` different messages came, or none came for ``patience`` seconds."""
    plan = json.load(sys.stdin)
    consumer = Consumer(
        {
            "bootstrap.servers": plan["servers"],
            "group.id": f"observer-{plan['output']}",
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            # Append times tell the lateness: there is no hurry, and the broker has other work.
            "fetch.min.bytes": 1_000_000,
            "fetch.wait.max.ms": 500,
        }
    )
    consumer.subscribe([plan["output"]])
    seen: dict[int, int] = {}
    late: list[int] = []
    appended: list[int] = []
    last = time.monotonic()
    while len(seen) < plan["count"] and time.monotonic() - last < plan["patience"]:
        for message in consumer.consume(1000, 0.5):
            number, due = read(message.value())
            seen[number] = seen.get(number, 0) + 1
            late.append(message.timestamp()[1] - due)
            appended.append(message.timestamp()[1])
            last = time.monotonic()
    consumer.close()
    json.dump(_report(plan["count"], seen, late, appended), sys.stdout)


def _report(count: int, seen: dict[int, int], late: list[int], appended: list[int]) -> dict:
    times = np.array(late or [0])
    return {
        "lost": count - len(seen),
        "twice": sum(n - 1 for n in seen.values()),
        "early": int((times < 0).sum()),
        "late_ms": {f"p{q}": float(np.percentile(times, q)) for q in (50, 95, 99, 99.9)},
        "late_max_ms": float(times.max()),
        "by_second": _by_second(times, np.array(appended or [0])),
        "span_seconds": (max(appended) - min(appended)) / 1000 if appended else 0.0,
    }


def _by_second(late: np.ndarray, appended: np.ndarray) -> list[tuple[int, float, float]]:
    """Return p50 and p99 of what was published in each second of the run."""
    seconds = (appended - appended.min()) // 1000
    return [
        (int(second), *map(float, np.percentile(late[seconds == second], (50, 99))))
        for second in np.unique(seconds)
    ]


if __name__ == "__main__":
    main()
