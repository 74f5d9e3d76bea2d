"""Reads a command: what it does, to which schedule, on whose behalf, and who wants to know."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Self

from pipeline.clock import FARTHEST
from pipeline.commands import (
    ACTOR,
    ATTRIBUTES,
    IF_VERSION,
    REASON,
    REPLY_TO,
    SCOPE,
    Command,
    Scope,
)
from pipeline.reasons import Reason
from state.rules.refusal import Refused, RefusedError, refuse
from state.rules.wishes import Wishes, later

Allows = Callable[[str], bool]

AT, DELAY, TOPIC = "deliverat", "delayby", "outputtopic"
SAID_BY_COMMANDS = ("id", "type", "source", AT, DELAY, TOPIC, *ATTRIBUTES)

_VERSION = re.compile(r"[0-9]{1,10}-[0-9]{1,19}")
_PAUSES = (Command.PAUSE, Command.RESUME)
_BY_TYPE = {command.type: command for command in Command}


@dataclass(frozen=True, slots=True)
class Control:
    """A command that was read."""

    command: Command
    event: str  # the id of the event
    actor: str
    reason: str | None = None
    if_version: str | None = None
    reply_to: str | None = None
    scope: Scope = Scope.KEY
    topic: str | None = None  # of the scope topic
    at: int | None = None  # of a reschedule

    def to_json(self) -> str:
        """Write it into a line."""
        return json.dumps(
            {name: value for name, value in asdict(self).items() if value is not None}
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read it back."""
        said = json.loads(text)
        said["command"], said["scope"] = Command(said["command"]), Scope(said["scope"])
        return cls(**said)


def read_control(
    said: Mapping[str, str], key: bytes | None, timestamp: int, allows: Allows
) -> Control | Refused:
    """Read the attributes of a command; ``timestamp`` is its record's, a delay counts from it.

    ``allows`` tells whether the job may publish to a topic.
    """
    try:
        return _read(Wishes(said, {}), key, timestamp, allows)
    except RefusedError as error:
        return error.refused


def _read(wishes: Wishes, key: bytes | None, timestamp: int, allows: Allows) -> Control:
    said = wishes.asked
    command = _BY_TYPE[said["type"]]
    scope = _scope(wishes, command)
    if scope is Scope.KEY and not key:
        refuse(Reason.MISSING_KEY, Reason.MISSING_KEY.sentence)
    return Control(
        command,
        said["id"],
        said.get(ACTOR) or said["source"],
        said.get(REASON),
        _if_version(wishes),
        _reply_to(wishes, allows),
        scope,
        said.get(TOPIC) if scope is Scope.TOPIC else None,
        _at(wishes, timestamp) if command is Command.RESCHEDULE else None,
    )


def _scope(wishes: Wishes, command: Command) -> Scope:
    if not wishes.has(SCOPE):
        return Scope.KEY
    text = wishes.asked[SCOPE]
    if command not in _PAUSES or text not in list(Scope):
        refuse(
            Reason.INVALID_COMMAND,
            f"{wishes.said(SCOPE)} cannot be followed; pause and resume take key, topic or all, "
            "other commands are about one key",
        )
    if text == Scope.TOPIC and not wishes.asked.get(TOPIC):
        refuse(
            Reason.MISSING_ATTRIBUTE,
            f"{wishes.said(SCOPE)} is given without {TOPIC}; name the output topic",
        )
    return Scope(text)


def _if_version(wishes: Wishes) -> str | None:
    if not wishes.has(IF_VERSION):
        return None
    text = wishes.asked[IF_VERSION]
    if not _VERSION.fullmatch(text):
        refuse(
            Reason.INVALID_COMMAND,
            f"{wishes.said(IF_VERSION)} is not a version; send partition-offset, such as 0-17, as "
            "duestream show prints it",
        )
    return text


def _reply_to(wishes: Wishes, allows: Allows) -> str | None:
    if not wishes.has(REPLY_TO):
        return None
    if not allows(wishes.asked[REPLY_TO]):
        refuse(
            Reason.TOPIC_NOT_ALLOWED,
            f"{wishes.said(REPLY_TO)} is not a topic that is allowed; add it to outputs.allow",
        )
    return wishes.asked[REPLY_TO]


def _at(wishes: Wishes, timestamp: int) -> int:
    at, delay = wishes.instant(AT), wishes.span(DELAY)
    if (at is None) == (delay is None):
        given = "both are given" if at is not None else "neither is given"
        refuse(
            Reason.CONFLICTING_ATTRIBUTES if at is not None else Reason.MISSING_ATTRIBUTE,
            f"a reschedule needs {AT} or {DELAY}, and {given}; send one of them",
        )
    due = at if at is not None else later(timestamp, delay or 0)
    if due - timestamp > FARTHEST:
        said = wishes.said(DELAY if at is None else AT)
        refuse(Reason.TIME_OUT_OF_RANGE, f"{said} is more than 100 years ahead; check its unit")
    return due
