"""Makes sure that the topics of the channels are there, and forget nothing too soon."""

from collections.abc import Iterator
from typing import Any

from confluent_kafka.cimpl import NewTopic

from pipeline.broker_topics import await_leaders
from pipeline.config.channels_block import ChannelSettings
from pipeline.config.settings import Settings
from pipeline.login import connect
from pipeline.topics import create_topic, topic_config
from state.clock import DAY
from state.errors import KafkaError

_TIMEOUT = 30.0
_MICROS_A_MILLI = 1_000
_BY_BROKER = {"message.timestamp.type": "LogAppendTime"}  # one clock for all that is judged by it
_SEGMENT = {"segment.ms": str(3_600_000)}


def prepare(settings: Settings) -> None:
    """Create what is missing; refuse what would lose something, or have no one order."""
    channels, copies = settings.admin.channels, settings.internal.replication_factor or -1
    admin, listed = connect(settings.kafka, _TIMEOUT)
    for topic, config in _wanted(channels).items():
        if topic not in listed:
            create_topic(admin, NewTopic(topic, 1, copies, config=config))
            continue
        partitions = len(listed[topic].partitions)
        for trouble in _troubles(channels, topic, partitions, topic_config(admin, topic)):
            raise KafkaError(f"admin.channels.topic: the topic {topic} {trouble}")
    await_leaders(admin, [*_wanted(channels)])


def _wanted(channels: ChannelSettings) -> dict[str, dict[str, str]]:
    kept = str((channels.max_ttl + DAY) // _MICROS_A_MILLI)
    for_a_time = {"cleanup.policy": "delete", "retention.ms": kept, "retention.bytes": "-1"}
    return {
        channels.topic: for_a_time | _BY_BROKER | _SEGMENT,
        channels.log_topic: for_a_time | _BY_BROKER | _SEGMENT,
        channels.jobs_topic: {"cleanup.policy": "compact"} | _BY_BROKER,
    }


def _troubles(
    channels: ChannelSettings, topic: str, partitions: int, config: dict[str, str] | None
) -> Iterator[str]:
    if topic != channels.topic and partitions != 1:
        yield f"has {partitions} partitions, and one order needs one; create it anew with one"
    if config is None:
        return
    wanted: dict[str, Any] = _wanted(channels)[topic]
    told = config["cleanup.policy"]
    if told != wanted["cleanup.policy"]:
        yield f"has cleanup.policy={told}; set it to {wanted['cleanup.policy']}"
    kept, least = int(config["retention.ms"]), channels.max_ttl // _MICROS_A_MILLI
    if told == "delete" and 0 <= kept < least:
        yield f"keeps records for {kept} ms only; set retention.ms to {least} or lower max_ttl"
    if topic != channels.topic and config["message.timestamp.type"] != "LogAppendTime":
        yield "bears the time of its writers; set message.timestamp.type to LogAppendTime"
