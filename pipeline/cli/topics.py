"""Creates topics on the cluster the settings name."""

from collections.abc import Iterator

from confluent_kafka import KafkaError as Code
from confluent_kafka import KafkaException
from confluent_kafka.cimpl import NewTopic

from pipeline.config.kafka_block import KafkaSettings
from pipeline.login import connect
from state.errors import KafkaError

_TIMEOUT = 15.0


def create_topics(
    kafka: KafkaSettings, names: list[str], partitions: int
) -> Iterator[tuple[str, bool]]:
    """Create each topic that is not there; yield its name and whether it was created."""
    admin, _ = connect(kafka, _TIMEOUT)
    wanted = [NewTopic(name, partitions, -1) for name in dict.fromkeys(names)]
    for name, answer in admin.create_topics(wanted, request_timeout=_TIMEOUT).items():
        try:
            answer.result()
            yield name, True
        except KafkaException as error:
            if error.args[0].code() != Code.TOPIC_ALREADY_EXISTS:
                raise KafkaError(f"{name} cannot be created: {error.args[0].str()}") from error
            yield name, False
