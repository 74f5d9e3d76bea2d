"""Finds out what the cluster lets this job do, before it does any of it."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from confluent_kafka import KafkaError as Code
from confluent_kafka import KafkaException, TopicCollection
from confluent_kafka import admin as kafka_admin

from pipeline.config.kafka_block import KafkaSettings
from pipeline.config.settings import Settings
from pipeline.rights import Operation, Right, job_rights
from state.errors import KafkaError

log = logging.getLogger(__name__)

_ADMIN: Any = kafka_admin  # its types do not know all there is
_TIMEOUT = 30.0
_CODES = {
    Operation.READ: _ADMIN.AclOperation.READ,
    Operation.WRITE: _ADMIN.AclOperation.WRITE,
}


def require_rights(admin: Any, settings: Settings, topics: Iterable[str]) -> None:
    """Raise KafkaError that names the first right the job lacks on one of ``topics``.

    Where a broker does not tell what is allowed, nothing is refused here: the operation itself
    will be.
    """
    for lack in _lacking(admin, settings, topics):
        raise KafkaError(lack)


def warn_of_outputs(admin: Any, settings: Settings) -> None:
    """Log the output topics that may not be written; what is for others goes out all the same."""
    named = set(settings.outputs.allow) - settings.reserved_topics
    for lack in _lacking(admin, settings, sorted(named)):
        log.warning("%s. Until then its messages are tried again, then dead letters", lack)


def refuse_hidden(admin: Any, kafka: KafkaSettings, topics: list[str]) -> None:
    """Raise KafkaError if one of ``topics``, which the cluster does not list, may be there."""
    for name, allowed in _allowed(admin, topics):
        if allowed is not None and not allowed:
            raise KafkaError(_sentence(kafka, Operation.READ, name))


def _lacking(admin: Any, settings: Settings, topics: Iterable[str]) -> Iterator[str]:
    wanted = {right.name: right for right in job_rights(settings) if right.kind == "topic"}
    known = [name for name in topics if name in wanted]
    for name, allowed in _allowed(admin, known):
        for operation in _missing(wanted[name], allowed):
            yield _sentence(settings.kafka, operation, name)


def _allowed(admin: Any, topics: list[str]) -> Iterator[tuple[str, set[Any] | None]]:
    """Yield what may be done with each topic: nothing at all, or None when that is not told."""
    if not topics:
        return
    answers: Mapping[str, Any] = admin.describe_topics(
        TopicCollection(topics), include_authorized_operations=True, request_timeout=_TIMEOUT
    )
    for name, answer in answers.items():
        try:
            told = answer.result(_TIMEOUT).authorized_operations
        except KafkaException as error:
            refused = error.args[0].code() == Code.TOPIC_AUTHORIZATION_FAILED
            yield name, set() if refused else None
        except TimeoutError:
            yield name, None
        else:
            yield name, set(told) if told else None


def _missing(right: Right, allowed: set[Any] | None) -> Iterator[Operation]:
    if allowed is not None:
        needed = (operation for operation in right.operations if operation in _CODES)
        yield from (operation for operation in needed if _CODES[operation] not in allowed)


def _sentence(kafka: KafkaSettings, operation: Operation, topic: str) -> str:
    user = kafka.security.username
    who = "this user" if user is None else f"the user {user}"
    return (
        f"{who} may not {operation.lower()} the topic {topic}; allow it ({operation} on topic "
        f"{topic}): duestream acl show prints the commands"
    )
