"""The job's own topics, made where they are missing and checked where they are not."""

from collections.abc import Callable

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from pipeline.config.load import load_settings
from pipeline.config.settings import Settings
from pipeline.local_kafka import LocalKafka
from pipeline.quiet import quiet
from pipeline.topics import prepare_topics
from state.errors import KafkaError
from tests.integration.running import wait_for

Topics = Callable[..., str]


@pytest.fixture
def settings(broker: LocalKafka, topics: Topics) -> Settings:
    source = topics("in")
    given = {
        "name": source,
        "kafka.bootstrap_servers": broker.bootstrap_servers,
        "sources": [{"topic": source}],
        "outputs.allow": ["out"],
        "publish.lanes": 3,
    }
    return load_settings(flags=given, environ={})


def config_of(broker: LocalKafka, topic: str) -> dict[str, str]:
    admin = AdminClient(quiet({"bootstrap.servers": broker.bootstrap_servers}))
    resource = ConfigResource(ResourceType.TOPIC, topic)
    found = admin.describe_configs([resource])[resource].result(30)
    return {name: entry.value for name, entry in found.items()}


def partitions_of(broker: LocalKafka, topic: str) -> int:
    admin = AdminClient(quiet({"bootstrap.servers": broker.bootstrap_servers}))
    return len(admin.list_topics(topic, timeout=30).topics[topic].partitions)


def test_what_is_missing_is_made_so_that_nothing_is_forgotten(
    broker: LocalKafka, settings: Settings
) -> None:
    for _ in range(2):  # the second time all of it is there
        prepare_topics(settings)
    assert config_of(broker, settings.markers_topic)["cleanup.policy"] == "compact"
    assert config_of(broker, settings.internal_topic)["retention.ms"] == str(90 * 86_400_000)
    assert partitions_of(broker, settings.internal_topic) == 3
    assert partitions_of(broker, settings.markers_topic) == 3


def test_the_late_topic_is_made_like_that_of_dead_letters(
    broker: LocalKafka, settings: Settings
) -> None:
    late = f"late.{settings.name}"
    outputs = settings.outputs.model_copy(update={"late_topic": late})
    for _ in range(2):
        prepare_topics(settings.model_copy(update={"outputs": outputs}))
    assert partitions_of(broker, late) == partitions_of(broker, settings.dead_letter.topic)


def test_more_lanes_get_more_partitions(broker: LocalKafka, settings: Settings) -> None:
    def has_come_to(lanes: int) -> None:  # a broker tells of a change a moment after it is made
        has = lambda: partitions_of(broker, settings.markers_topic) == lanes  # noqa: E731
        wait_for(has, f"the topic to have {lanes} partitions")

    prepare_topics(settings)
    has_come_to(settings.publish.lanes)
    more = settings.publish.model_copy(update={"lanes": 5})
    prepare_topics(settings.model_copy(update={"publish": more}))
    has_come_to(5)


def test_markers_that_would_be_forgotten_are_refused(
    broker: LocalKafka, settings: Settings
) -> None:
    broker.create_topics([settings.markers_topic], partitions=3)
    with pytest.raises(KafkaError, match=r"set its cleanup\.policy to compact"):
        prepare_topics(settings)


def test_a_missing_input_topic_is_named(settings: Settings) -> None:
    nowhere = [settings.sources[0].model_copy(update={"topic": "nowhere"})]
    with pytest.raises(KafkaError, match="duestream topic create nowhere"):
        prepare_topics(settings.model_copy(update={"sources": nowhere}))
