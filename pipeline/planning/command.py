"""Reads what a command says, with the job's own reader."""

import re

from pipeline.commands import ALIKE, NO_COMMAND, Command, Scope
from pipeline.control import SAID_BY_COMMANDS, Control, read_control
from pipeline.planning.admission import Admission
from pipeline.planning.event import Event
from pipeline.planning.refused import refuse
from pipeline.reasons import Reason
from state.rules.refusal import Refused

_SOME_KEY = b"?"


def command_of(event: Event) -> Command | None:
    """Return which command an event gives, None when it schedules a message."""
    return next((command for command in Command if command.type == event.text("type")), None)


def refuse_lookalikes(event: Event) -> None:
    """Refuse a type that was surely meant as a command."""
    said = event.text("type") or ""
    if re.match(ALIKE, said):
        refuse(Reason.INVALID_COMMAND, f"type '{said}' {NO_COMMAND}")


def read_command(event: Event, key: bytes | None, timestamp: int, admission: Admission) -> Control:
    """Read a command; a ``key`` of None is one that is not known here."""
    admission.check_key_size(key)
    said = {name: text for name in SAID_BY_COMMANDS if (text := event.text(name)) is not None}
    control = read_control(said, _SOME_KEY if key is None else key, timestamp, admission.takes)
    if isinstance(control, Refused):
        refuse(control.reason, control.sentence)
    if control.scope is Scope.KEY:
        admission.check_key(key)
    return control
