"""What each user of a cluster with ACLs must be allowed to do, drawn from the settings."""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Literal, NamedTuple

from pipeline.config.settings import Settings

GROUPS = TRANSACTIONS = "duestream."  # how the names begin of all groups and transactional ids
AUDIT_GROUP = "duestream-audit"
EVERY = "*"

Kind = Literal["topic", "group", "transactional-id"]


class Operation(StrEnum):
    """An operation of Kafka's ACLs, by the name its tools know."""

    READ = "Read"
    WRITE = "Write"
    CREATE = "Create"
    ALTER = "Alter"
    DESCRIBE = "Describe"
    DESCRIBE_CONFIGS = "DescribeConfigs"


class Right(NamedTuple):
    """Operations on one name, or on all that begin with it."""

    kind: Kind
    name: str
    prefixed: bool
    operations: tuple[Operation, ...]


def job_rights(settings: Settings) -> list[Right]:
    """Return all that the job does on the cluster, and no more."""
    return [
        *_inputs(settings),
        *(
            Right("topic", name, prefixed, (Operation.WRITE, Operation.DESCRIBE_CONFIGS))
            for name, prefixed in _outputs(settings)
        ),
        *_own_topics(settings),
        Right("group", GROUPS, True, (Operation.READ,)),
        *_transactions(settings),
    ]


def client_rights(settings: Settings) -> list[Right]:
    """Return what schedules and commands need, from the client or the command line."""
    topics = dict.fromkeys(source.topic for source in settings.sources)
    return [_topic(name, Operation.WRITE) for name in topics]


def serve_rights(settings: Settings) -> list[Right]:
    """Return what ``duestream serve`` needs: to send events, and to keep channels if it has any."""
    channels = settings.admin.channels
    if channels.port is None:
        return client_rights(settings)
    made = (Operation.CREATE, Operation.DESCRIBE_CONFIGS)
    own = (channels.log_topic, channels.jobs_topic)
    return [
        *client_rights(settings),
        _topic(channels.topic, Operation.READ, *made),
        *(_topic(name, Operation.READ, Operation.WRITE, *made) for name in own),
    ]


def audit_rights(settings: Settings) -> list[Right]:
    """Return what ``duestream audit --topics`` needs."""
    return [
        *(
            Right("topic", name, prefixed, (Operation.READ,))
            for name, prefixed in _outputs(settings)
        ),
        Right("group", AUDIT_GROUP, False, (Operation.DESCRIBE,)),
    ]


def _inputs(settings: Settings) -> Iterator[Right]:
    """Yield the topics that are read; a drop-in also marks there what it has sent."""
    marked = {source.topic for source in settings.sources if source.drop_in}
    read = [source.topic for source in settings.sources]
    read += [rule.topic for rule in settings.withdraw]
    for name in dict.fromkeys(read):
        writes = (Operation.WRITE,) if name in marked else ()
        yield _topic(name, Operation.READ, *writes)


def _own_topics(settings: Settings) -> Iterator[Right]:
    yield _topic(
        settings.internal_topic,
        Operation.READ,
        Operation.WRITE,
        Operation.CREATE,
        Operation.ALTER,
    )
    if _is_exact(settings):
        yield _topic(
            settings.markers_topic,
            Operation.READ,
            Operation.WRITE,
            Operation.CREATE,
            Operation.ALTER,
            Operation.DESCRIBE_CONFIGS,
        )
    yield _topic(
        settings.dead_letter.topic, Operation.WRITE, Operation.CREATE, Operation.DESCRIBE_CONFIGS
    )
    kept = sorted(settings.history_topics)
    for name in (
        kept if settings.outputs.late_topic is None else [settings.outputs.late_topic, *kept]
    ):
        yield _topic(name, Operation.WRITE, Operation.CREATE)


def _transactions(settings: Settings) -> Iterator[Right]:
    if _is_exact(settings):
        yield Right("transactional-id", TRANSACTIONS, True, (Operation.WRITE,))


def _is_exact(settings: Settings) -> bool:
    return settings.publish.guarantee == "exactly_once"


def _outputs(settings: Settings) -> list[tuple[str, bool]]:
    """Return the names of output topics, or how they begin: ACLs know no other patterns.

    What begins with a shorter one of them needs no right of its own.
    """
    found = dict.fromkeys(_beginning(pattern) for pattern in settings.outputs.allow)
    begins = [name for name, prefixed in found if prefixed]
    return [(EVERY, False)] if "" in begins else _outermost(list(found), begins)


def _outermost(found: list[tuple[str, bool]], begins: list[str]) -> list[tuple[str, bool]]:
    return [
        (name, prefixed)
        for name, prefixed in found
        if not any(name.startswith(one) and (name, prefixed) != (one, True) for one in begins)
    ]


def _beginning(pattern: str) -> tuple[str, bool]:
    plain = re.split(r"[*?]", pattern, maxsplit=1)[0]
    return plain, plain != pattern


def _topic(name: str, *operations: Operation) -> Right:
    return Right("topic", name, False, operations)
