"""Finds the newest record with a key on one partition, reading from its end backwards."""

import time
from contextlib import closing

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition
from confluent_kafka import KafkaError as Code

from pipeline.quiet import Options

_FIRST_STEP = 100  # offsets; a transaction takes two of them
_STEP_GROWS = 10


def newest_record(
    client: Options, topic: str, partition: int, key: bytes, timeout: float
) -> Message | None:
    """Return the newest committed record with ``key``, None if there is none.

    The end is that of all records, also of transactions still open: whoever asks has settled its
    own, and what comes before another's is not missed but waited for.
    """
    give_up = time.monotonic() + timeout
    options = {
        **client,
        "group.id": "duestream.reads",  # asked for by the client; nothing is committed under it
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "earliest",
    }
    with closing(Consumer({**options, "isolation.level": "read_uncommitted"})) as consumer:
        start, end = _bounds(consumer, TopicPartition(topic, partition), timeout)
    step = _FIRST_STEP
    with closing(Consumer({**options, "isolation.level": "read_committed"})) as consumer:
        upto = end
        while upto > start:
            begin = max(start, end - step)
            consumer.assign([TopicPartition(topic, partition, begin)])
            found = _last_before(consumer, upto, key, give_up)
            if found is not None:
                return found
            upto, step = begin, step * _STEP_GROWS
    return None


def _last_before(consumer: Consumer, upto: int, key: bytes, give_up: float) -> Message | None:
    found = None
    while time.monotonic() < give_up:
        message = consumer.poll(0.1)
        if message is None:
            continue
        error, offset = message.error(), message.offset() or 0
        if error is not None and error.code() != Code._PARTITION_EOF:
            raise KafkaException(error)
        if offset >= upto:
            return found
        if error is None and message.key() == key:
            found = message
    raise KafkaException(Code(Code._TIMED_OUT, "the markers could not be read to their end"))


def _bounds(consumer: Consumer, place: TopicPartition, timeout: float) -> tuple[int, int]:
    found = consumer.get_watermark_offsets(place, timeout=timeout)
    if found is None:
        raise KafkaException(Code(Code._TIMED_OUT, "nobody tells where the markers end"))
    return found
