"""The commands that an event may give instead of a message: their types, attributes and effects."""

from enum import StrEnum

_PREFIX = "io.duestream."


class Command(StrEnum):
    """What an event of type ``io.duestream.NAME.v1`` does to the schedule of its key."""

    CANCEL = "cancel"
    RESCHEDULE = "reschedule"  # to deliverat, or delayby after the record's timestamp
    SEND_NOW = "sendnow"
    PAUSE = "pause"
    RESUME = "resume"

    @property
    def type(self) -> str:
        """The type of the event."""
        return f"{_PREFIX}{self.value}.v1"


# A type that was surely meant as one of them.
ALIKE = r"(?i)\Aio\.duestream\.(cancel|reschedule|send.?now|pause|resume)\b"
NO_COMMAND = (
    f"is not the type of a command; the types are {', '.join(command.type for command in Command)}"
)


class Scope(StrEnum):
    """What is paused or resumed: the schedule of the key, all for one output topic, or all."""

    KEY = "key"
    TOPIC = "topic"  # the one in outputtopic
    ALL = "all"


class Effect(StrEnum):
    """What a command came to, as its audit record and its reply say."""

    CANCELLED = "cancelled"
    RESCHEDULED = "rescheduled"
    PAUSED = "paused"
    RESUMED = "resumed"
    NOTHING_PENDING = "nothing_pending"
    VERSION_DIFFERS = "version_differs"  # than the one in ifversion
    AFTER_EXPIRY = "after_expiry"  # the new instant is not before the message expires
    NOT_PAUSED = "not_paused"


# Attributes of commands.
REASON = "reason"  # why, in a person's words
ACTOR = "actor"  # who; else the event's source
IF_VERSION = "ifversion"  # partition-offset of the record that made the pending message
REPLY_TO = "replyto"  # a topic, allowed as an output, that gets the result
SCOPE = "scope"
ATTRIBUTES = (REASON, ACTOR, IF_VERSION, REPLY_TO, SCOPE)


def version_text(partition: int, offset: int) -> str:
    """Return how a version is written for people and for ``ifversion``."""
    return f"{partition}-{offset}"
