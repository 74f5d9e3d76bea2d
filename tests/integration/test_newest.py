"""The newest record with a key, found from the end of a partition that holds transactions."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from confluent_kafka import KafkaException, Producer

from pipeline.local_kafka import LocalKafka
from pipeline.outbox.newest import newest_record
from pipeline.quiet import quiet

Topics = Callable[..., str]
Find = Callable[..., bytes | None]


class Writer:
    """Writes each record in a transaction of its own."""

    def __init__(self, broker: LocalKafka, topic: str) -> None:
        self.topic = topic
        self.producer = Producer(
            quiet({"bootstrap.servers": broker.bootstrap_servers})
            | {"transactional.id": uuid4().hex, "linger.ms": 0, "retry.backoff.ms": 5}
        )
        self.producer.init_transactions(30)

    def begin(self, key: bytes, value: bytes) -> None:
        self.producer.begin_transaction()
        self.producer.produce(self.topic, value, key, partition=1)
        self.producer.flush(30)

    def write(self, key: bytes, value: bytes) -> None:
        self.begin(key, value)
        self.producer.commit_transaction(30)


@pytest.fixture
def topic(topics: Topics) -> str:
    return topics("markers", partitions=2)


@pytest.fixture
def find(broker: LocalKafka, topic: str) -> Find:
    client = quiet({"bootstrap.servers": broker.bootstrap_servers})

    def value(key: bytes, patience: float = 60.0) -> bytes | None:
        found = newest_record(client, topic, 1, key, patience).record
        return None if found is None else found.value()

    return value


def test_there_is_none_on_an_empty_partition(find: Find) -> None:
    assert find(b"a") is None


def test_it_is_found_behind_hundreds_of_records_of_others(
    broker: LocalKafka, topic: str, find: Find
) -> None:
    writer = Writer(broker, topic)
    writer.write(b"a", b"old")
    writer.write(b"a", b"new")
    for n in range(150):  # two offsets each: more than the first step back reaches
        writer.write(b"b", b"%d" % n)
    assert (find(b"a"), find(b"b"), find(b"c")) == (b"new", b"149", None)


def test_what_was_aborted_does_not_count(broker: LocalKafka, topic: str, find: Find) -> None:
    writer = Writer(broker, topic)
    writer.write(b"a", b"out")
    writer.begin(b"a", b"taken back")
    writer.producer.abort_transaction(30)
    assert find(b"a") == b"out"


def test_an_open_transaction_of_another_is_waited_for(
    broker: LocalKafka, topic: str, find: Find
) -> None:
    writer, other = Writer(broker, topic), Writer(broker, topic)
    writer.write(b"a", b"old")
    other.begin(b"b", b"not yet")
    writer.write(b"a", b"hidden behind the other")
    with pytest.raises(KafkaException, match="could not be read to their end"):
        find(b"a", patience=3.0)
    other.producer.commit_transaction(30)
    assert find(b"a") == b"hidden behind the other"
