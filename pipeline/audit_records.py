"""Writes what became of a command: an audit record in the state, and a reply if one is wanted."""

import json
import zlib
from typing import Any

from pipeline.clock import instant_text
from pipeline.commands import Effect
from pipeline.control import Control
from pipeline.identity import command_identity
from state import row
from state.row import Entry, Kind
from state.version import Version

Row = dict[str, Any]

_JSON = [{"key": "content-type", "value": b"application/json"}]


def audit_record(
    line: dict[str, Any], control: Control, effect: Effect, now: int
) -> dict[str, Any]:
    """Return the command as one of state.row.COMMANDS; ``line`` is its record."""
    version = Version(
        line[row.SOURCE_TOPIC],
        line[row.SOURCE_PARTITION],
        line[row.SOURCE_OFFSET],
        line[row.SOURCE_TIMESTAMP],
    )
    identity = command_identity(version)
    said = {
        "who": control.actor,
        "why": control.reason,
        "what": control.command.value,
        "scope": control.scope.value,
        "topic": control.topic,
        "at": None if control.at is None else instant_text(control.at),
        "ifversion": control.if_version,
        "effect": effect.value,
        "event": control.event,
    }
    detail = {name: value for name, value in said.items() if value is not None}
    return {
        **line,
        row.ENTRY: Entry.COMMAND.value,
        row.KIND: Kind.COMMAND.value,
        row.IDENTITY: identity,
        row.HASH: zlib.crc32(identity),
        row.OCCURRENCE: row.OF_COMMAND,
        row.DUE: now,
        row.POLICY: None,
        row.REASON: effect.value,
        row.DETAIL: json.dumps(detail, ensure_ascii=False),
        row.SUPERSEDED: 0,
        **_reply(line, control, detail),
    }


def _reply(line: Row, control: Control, detail: Row) -> Row:
    if control.reply_to is None:
        return dict.fromkeys(
            (row.OUTPUT_TOPIC, row.OUTPUT_KEY, row.OUTPUT_PARTITION, row.PAYLOAD, row.HEADERS)
        )
    key = line[row.KEY]
    said = {"key": None if key is None else key.decode(errors="replace"), **detail}
    return {
        row.OUTPUT_TOPIC: control.reply_to,
        row.OUTPUT_KEY: key,
        row.OUTPUT_PARTITION: None,
        row.PAYLOAD: json.dumps(said, ensure_ascii=False).encode(),
        row.HEADERS: _JSON,
    }
