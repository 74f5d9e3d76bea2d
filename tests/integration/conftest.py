"""What the tests on a real broker share: a committed reader."""

from collections.abc import Callable

import pytest
from confluent_kafka import Consumer, Message, TopicPartition

from pipeline.local_kafka import LocalKafka

Read = Callable[[str], list[Message]]


@pytest.fixture
def read(broker: LocalKafka) -> Read:
    """Read everything committed on a topic so far."""

    def read_all(topic: str) -> list[Message]:
        consumer = Consumer(
            {
                "bootstrap.servers": broker.bootstrap_servers,
                "group.id": "reader",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
            }
        )
        partitions = consumer.list_topics(topic, 30).topics[topic].partitions
        consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
        messages: list[Message] = []
        ended = 0
        while ended < len(partitions):
            message = consumer.poll(30)
            assert message is not None, f"{topic} cannot be read to its end"
            if message.error() is None:
                messages.append(message)
            else:
                ended += 1
        consumer.close()
        return messages

    return read_all
