"""Reads a topic as a consumer of committed records sees it."""

from confluent_kafka import Consumer, Message, TopicPartition


def read_committed(servers: str, topic: str) -> list[Message]:
    """Return everything committed on a topic so far, partition by partition in order."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
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
        if message is None:
            raise TimeoutError(f"{topic} cannot be read to its end")
        if message.error() is None:
            messages.append(message)
        else:
            ended += 1
    consumer.close()
    return messages
