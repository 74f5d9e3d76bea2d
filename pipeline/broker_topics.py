"""Creates topics on a local broker and waits until they can be used."""

import time
from collections.abc import Mapping

from confluent_kafka import KafkaError as ClientError
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from state.errors import KafkaError

USABLE_WITHIN = 30.0


def create_topics(
    admin: AdminClient, names: list[str], partitions: int, config: Mapping[str, str]
) -> None:
    """Create ``names``, leave those that exist as they are, and return when all have leaders."""
    wanted = [NewTopic(name, partitions, 1, config=dict(config)) for name in names]
    for name, future in admin.create_topics(wanted).items():
        try:
            future.result()
        except KafkaException as error:
            if error.args[0].code() != ClientError.TOPIC_ALREADY_EXISTS:
                raise KafkaError(
                    f"topic {name} cannot be created: {error.args[0].str()}"
                ) from error
    await_leaders(admin, names)


def await_leaders(admin: AdminClient, names: list[str]) -> None:
    """Return when all of ``names`` can be written and read."""
    deadline = time.monotonic() + USABLE_WITHIN
    while not all(_has_leaders(admin, name) for name in names):
        if time.monotonic() > deadline:
            raise KafkaError(f"topics {', '.join(names)} have no leaders; see the broker's log")


def _has_leaders(admin: AdminClient, name: str) -> bool:
    topic = admin.list_topics(name, timeout=10).topics[name]
    return bool(topic.partitions) and all(p.leader >= 0 for p in topic.partitions.values())
