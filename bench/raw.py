"""The raw transactional produce rate of this machine: what Kafka takes with nothing around it."""

import time

from confluent_kafka import Producer

from bench.events import record

COUNT = 100_000
_A_TRANSACTION = 10_000


def raw_rate(servers: str, topic: str) -> dict:
    """Return messages a second, produced in transactions of ten thousand."""
    producer = Producer(
        {
            "bootstrap.servers": servers,
            "log_level": 2,
            "transactional.id": "bench-raw",
            "linger.ms": 1,
            "retry.backoff.ms": 5,
            "queue.buffering.max.messages": 500_000,
        }
    )
    producer.init_transactions(60)
    messages = [record(n, 0, topic)[:2] for n in range(_A_TRANSACTION)]
    _transaction(producer, topic, messages)  # warms up connection and coordinator
    begun = time.monotonic()
    for _ in range(COUNT // _A_TRANSACTION):
        _transaction(producer, topic, messages)
    return {"rate": COUNT / (time.monotonic() - begun)}


def _transaction(producer: Producer, topic: str, messages: list[tuple[bytes, bytes]]) -> None:
    producer.begin_transaction()
    for key, value in messages:
        producer.produce(topic, value, key)
    producer.commit_transaction(60)
