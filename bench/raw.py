"""The raw transactional produce rate of this machine: what Kafka takes with nothing around it."""

import os
import time
from typing import Any

from confluent_kafka import Producer

from bench.events import record
from bench.proc import cpu_seconds
from pipeline.local_kafka import LocalKafka

TOPIC = "raw.out"
COUNT = 500_000
_A_TRANSACTION = 10_000


def raw_rate(broker: LocalKafka) -> dict[str, Any]:
    """Return messages a second, produced in transactions of ten thousand, and what it took."""
    broker.create_topics([TOPIC], partitions=4)
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "log_level": 2,
            "transactional.id": "bench-raw",
            "linger.ms": 20,  # as the lanes have it
            "retry.backoff.ms": 5,
            "queue.buffering.max.messages": 500_000,
        }
    )
    producer.init_transactions(60)
    messages = [record(n, 0, TOPIC)[:2] for n in range(_A_TRANSACTION)]
    _transaction(producer, messages)  # warms up connection and coordinator
    used, begun = _used(broker), time.monotonic()
    for _ in range(COUNT // _A_TRANSACTION):
        _transaction(producer, messages)
    seconds = time.monotonic() - begun
    cores = (_used(broker) - used) / seconds / (os.cpu_count() or 1)
    return {"per_second": round(COUNT / seconds), "share_of_cores": round(cores, 2)}


def _transaction(producer: Producer, messages: list[tuple[bytes, bytes]]) -> None:
    producer.begin_transaction()
    for key, value in messages:
        producer.produce(TOPIC, value, key)
    producer.commit_transaction(60)


def _used(broker: LocalKafka) -> float:
    """Return the processor time of this process and the broker."""
    return time.process_time() + cpu_seconds(broker.pid or os.getpid())
