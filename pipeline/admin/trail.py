"""Lists the commands that were given, the newest first: who, what, why, and to what effect."""

from typing import Any, NamedTuple

from pipeline.admin.listing import LIGHT, Asked, listed
from pipeline.admin.shown import instant
from pipeline.commands import version_text
from pipeline.keys import key_text
from pipeline.remembered import Remembered, read_remembered
from state.cursor import Order
from state.inspect import Inspector
from state.row import SOURCE_OFFSET, SOURCE_PARTITION, SOURCE_TOPIC, Kind


class Trail(NamedTuple):
    """A page of commands, each fit for JSON, and where the next one begins."""

    commands: list[dict[str, Any]]
    next: str | None


def trail(
    state: Inspector, key: bytes | None = None, cursor: str | None = None, limit: int = 50
) -> Trail:
    """Return one page of commands, of one key or of all."""
    asked = Asked(key=key, cursor=cursor, limit=limit, kind=Kind.COMMAND, order=Order.LAST_CHANGED)
    rows, after = listed(state, asked, LIGHT)
    return Trail([_with_record(row) for row in rows], after)


def command_shown(command: Remembered) -> dict[str, Any]:
    """Return a command for programs."""
    about_key = command.scope == "key"
    return {
        "at": instant(command.when),
        "command": command.what,
        "scope": command.scope,
        "key": key_text(command.key) if about_key else None,
        "topic": command.topic,
        "effect": command.effect,
        "actor": command.who,
        "reason": command.why or None,
    }


def _with_record(row: dict[str, Any]) -> dict[str, Any]:
    version = version_text(row[SOURCE_PARTITION], row[SOURCE_OFFSET])
    return command_shown(read_remembered(row)) | {"source": row[SOURCE_TOPIC], "version": version}
