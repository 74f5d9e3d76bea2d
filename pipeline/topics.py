"""Makes sure that the topics of a job are there before it starts."""

import logging
from concurrent.futures import Future

from confluent_kafka import KafkaError as Code
from confluent_kafka import KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    ConfigResource,
    ResourceType,
)
from confluent_kafka.cimpl import NewPartitions, NewTopic

from pipeline.config.settings import Settings
from pipeline.granted import require_rights, warn_of_outputs
from pipeline.login import connect
from state.errors import KafkaError

log = logging.getLogger(__name__)

_TIMEOUT = 30.0
# A note that is gone before a job has read it is a retry lost: no job may be away for so long.
_NOTES = {"retention.ms": str(90 * 24 * 3600 * 1000)}
# The newest marker of a lane is all that counts, and it stays; small segments are compacted soon.
_MARKERS = {"cleanup.policy": "compact", "segment.bytes": str(16 * 1024 * 1024)}


def prepare_topics(settings: Settings) -> None:
    """Create the job's own topics where they are missing; input topics must exist."""
    admin, listed = connect(settings.kafka, _TIMEOUT)
    existing = {name: len(topic.partitions) for name, topic in listed.items()}
    read = [("sources[].topic", source.topic) for source in settings.sources]
    read += [("withdraw[].topic", rule.topic) for rule in settings.withdraw]
    require_rights(admin, settings, [topic for _, topic in read])
    for setting, topic in read:
        if topic not in existing:
            raise KafkaError(
                f"the input topic {topic} ({setting}) does not exist; create it, for example: "
                f"duestream topic create {topic}"
            )
    copies = settings.internal.replication_factor or -1
    lanes = settings.publish.lanes
    own = {settings.internal_topic: _NOTES}
    if settings.publish.guarantee == "exactly_once":
        own[settings.markers_topic] = _MARKERS
    for topic, config in own.items():
        if topic not in existing:
            create_topic(admin, NewTopic(topic, lanes, copies, config=config))
        elif existing[topic] < lanes:
            _widen(admin, topic, lanes)
    if settings.markers_topic in own.keys() & existing.keys():
        _refuse_if_forgetful(admin, settings.markers_topic)
    letters = (settings.dead_letter.topic, settings.outputs.late_topic)
    for kept in (*letters, *sorted(settings.history_topics)):
        if kept is not None and kept not in existing:
            create_topic(admin, NewTopic(kept, -1, copies))
    require_rights(admin, settings, settings.reserved_topics)
    warn_of_outputs(admin, settings)


def topic_config(admin: AdminClient, topic: str) -> dict[str, str] | None:
    """Return how the broker keeps a topic; None, and a line in the log, if that is not told."""
    resource = ConfigResource(ResourceType.TOPIC, topic)
    try:
        found = admin.describe_configs([resource])[resource].result(_TIMEOUT)
    except (KafkaException, TimeoutError) as error:
        log.warning("cannot check that %s forgets nothing: %s", topic, error)
        return None
    return {name: entry.value for name, entry in found.items()}


def _refuse_if_forgetful(admin: AdminClient, topic: str) -> None:
    kept = topic_config(admin, topic)
    if kept is not None and kept["cleanup.policy"] != "compact":
        raise KafkaError(
            f"the topic {topic} forgets records (cleanup.policy={kept['cleanup.policy']}), "
            "but what is out must never be forgotten; set its cleanup.policy to compact"
        )


def create_topic(admin: AdminClient, topic: NewTopic) -> None:
    """Create a topic; one that somebody else has created meanwhile will do."""
    _wait(admin.create_topics([topic])[topic.topic], f"create the topic {topic.topic}")


def _widen(admin: AdminClient, topic: str, partitions: int) -> None:
    answer = admin.create_partitions([NewPartitions(topic, partitions)])[topic]
    _wait(answer, f"give the topic {topic} {partitions} partitions")


def _wait(answer: Future[None], what: str) -> None:
    try:
        answer.result(_TIMEOUT)
    except TimeoutError as error:
        raise KafkaError(f"cannot {what}: no answer in {_TIMEOUT:.0f} s; try again") from error
    except KafkaException as error:
        if error.args[0].code() != Code.TOPIC_ALREADY_EXISTS:
            raise KafkaError(
                f"cannot {what}: {error.args[0].str()}; create it yourself or allow this job to "
                "(duestream acl show prints the commands)"
            ) from error
