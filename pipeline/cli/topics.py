"""Creates topics on the cluster the settings name."""

from collections.abc import Iterator
from typing import Any

from confluent_kafka import KafkaError as Code
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from pipeline.config.kafka import librdkafka_options
from pipeline.config.kafka_block import KafkaSettings
from state.errors import ConfigError, KafkaError

_TIMEOUT = 15.0


def create_topics(
    kafka: KafkaSettings, names: list[str], partitions: int
) -> Iterator[tuple[str, bool]]:
    """Create each topic that is not there; yield its name and whether it was created."""
    admin = _admin(kafka)
    _require_broker(admin, kafka)
    wanted = [NewTopic(name, partitions, -1) for name in dict.fromkeys(names)]
    for name, answer in admin.create_topics(wanted, request_timeout=_TIMEOUT).items():
        try:
            answer.result()
            yield name, True
        except KafkaException as error:
            if error.args[0].code() != Code.TOPIC_ALREADY_EXISTS:
                raise KafkaError(f"{name} cannot be created: {error.args[0].str()}") from error
            yield name, False


def _admin(kafka: KafkaSettings) -> AdminClient:
    # What librdkafka logs by itself would only repeat the sentence told below.
    quiet: dict[str, Any] = {"log_level": 0, "error_cb": lambda _: None}
    try:
        return AdminClient({**librdkafka_options(kafka), **quiet})
    except KafkaException as error:
        raise ConfigError(f"kafka: {error.args[0].str()}") from error


def _require_broker(admin: AdminClient, kafka: KafkaSettings) -> None:
    try:
        admin.list_topics(timeout=_TIMEOUT)
    except KafkaException as error:
        raise KafkaError(
            f"kafka.bootstrap_servers: no broker answers at {kafka.bootstrap_servers}; "
            "start one, for a try-out with: duestream kafka"
        ) from error
