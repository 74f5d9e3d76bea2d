"""Finds the newest record with a key on one partition, reading from its end backwards."""

import time
from contextlib import closing
from typing import NamedTuple

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition
from confluent_kafka import KafkaError as Code

from pipeline.quiet import Options

_FIRST_STEP = 100  # offsets; a transaction takes two of them
_STEP_GROWS = 10
_PAUSE = 0.1  # seconds
_FINAL = frozenset({Code.TOPIC_AUTHORIZATION_FAILED, Code.GROUP_AUTHORIZATION_FAILED})


class Newest(NamedTuple):
    """The newest record, None if there is none, and the offset after the last of all records."""

    record: Message | None
    end: int


def newest_record(
    client: Options, topic: str, partition: int, key: bytes, timeout: float, *, settled: bool = True
) -> Newest:
    """Return the newest committed record with ``key``.

    The end is that of all records, also of transactions still open: whoever asks has settled its
    own, and what comes before another's is not missed but waited for. Where records need not be
    ``settled``, those of open and of aborted transactions count too.
    """
    give_up = time.monotonic() + timeout
    options = {
        **client,
        "group.id": "duestream.reads",  # asked for by the client; nothing is committed under it
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "earliest",
        "fetch.wait.max.ms": 10,  # the end is told by an answer without records
    }
    with closing(Consumer({**options, "isolation.level": "read_uncommitted"})) as consumer:
        start, end = _bounds(consumer, TopicPartition(topic, partition), give_up)
    step = _FIRST_STEP
    level = "read_committed" if settled else "read_uncommitted"
    with closing(Consumer({**options, "isolation.level": level})) as consumer:
        upto = end
        while upto > start:
            begin = max(start, end - step)
            consumer.assign([TopicPartition(topic, partition, begin)])
            found = _last_before(consumer, upto, key, give_up)
            if found is not None:
                return Newest(found, end)
            upto, step = begin, step * _STEP_GROWS
    return Newest(None, end)


def _last_before(consumer: Consumer, upto: int, key: bytes, give_up: float) -> Message | None:
    found = None
    while time.monotonic() < give_up:
        message = consumer.poll(0.1)
        if message is None:
            continue
        error, offset = message.error(), message.offset() or 0
        if error is not None and error.code() != Code._PARTITION_EOF:
            _raise_if_final(error)
            continue
        if offset >= upto:
            return found
        if error is None and message.key() == key:
            found = message
    raise KafkaException(
        Code(
            Code._TIMED_OUT,
            "the markers could not be read to their end, another job has a transaction open there",
        )
    )


def _bounds(consumer: Consumer, place: TopicPartition, give_up: float) -> tuple[int, int]:
    """Return the first offset and the one after the last; a new topic has no leader at first."""
    while True:
        left = give_up - time.monotonic()
        try:
            found = consumer.get_watermark_offsets(place, timeout=max(left, _PAUSE))
        except KafkaException as error:
            _raise_if_final(error.args[0])
            if left < 0:
                raise
            found = None
        if found is not None:
            return found
        if left < 0:
            raise KafkaException(Code(Code._TIMED_OUT, "nobody tells where the markers end"))
        time.sleep(_PAUSE)


def _raise_if_final(error: Code) -> None:
    if error.code() in _FINAL:
        raise KafkaException(error)
