"""Writes rows and counts of the state as JSON, for programs."""

import json
from base64 import b64encode
from typing import Any

from pipeline.clock import exact_text
from pipeline.keys import key_text
from state.inspect import Stats
from state.row import (
    ATTEMPTED_AT,
    CHANGED_AT,
    DUE,
    HEADERS,
    IDENTITY,
    KEY,
    OUTPUT_KEY,
    PARKED,
    PAYLOAD,
    PUBLISHED_AT,
    SCHEDULED,
    SOURCE_TIMESTAMP,
)

_INSTANTS = frozenset({DUE, SCHEDULED, SOURCE_TIMESTAMP, PUBLISHED_AT, CHANGED_AT})
_KEYS = frozenset({KEY, OUTPUT_KEY})


def row_json(row: dict[str, Any]) -> str:
    """Return one row as one line; bytes that are no text stand in base64 under NAME_base64."""
    line: dict[str, Any] = {}
    for name, value in row.items():
        if name == PAYLOAD:
            line |= _bytes_field(PAYLOAD, value)
        elif name == HEADERS:
            line[HEADERS] = [_header(header) for header in value or []]
        elif name != IDENTITY:
            line[name] = _plain(name, value)
    return json.dumps(line, ensure_ascii=False)


def stats_json(stats: Stats) -> str:
    """Return the counts as one line."""
    ledger = stats.ledger
    line = {
        "accepted": ledger.accepted,
        "ends": {status.value: count for status, count in ledger.ends.items()},
        "difference": ledger.difference,
        "rejected": ledger.rejected,
        "late_cancels": ledger.late_cancels,
        "missed": ledger.missed,
        "last_batch": stats.last_batch,
        "next_due": _instant(stats.next_due),
        "oldest_overdue": _instant(stats.oldest_overdue),
        "pending_by_topic": stats.pending_by_topic,
        "paused": stats.paused,
        "pauses": stats.pauses.to_dict(),
    }
    return json.dumps(line, ensure_ascii=False)


def _plain(name: str, value: Any) -> Any:
    if value is None or (name == DUE and value >= PARKED):
        return None  # what is paused is due at no instant; SCHEDULED says when it was
    if name in _KEYS:
        return key_text(value)
    if name == ATTEMPTED_AT:
        return [exact_text(instant) for instant in value]
    return exact_text(value) if name in _INSTANTS else value


def _header(header: dict[str, Any]) -> dict[str, Any]:
    return {"key": header["key"], **_bytes_field("value", header["value"])}


def _bytes_field(name: str, raw: bytes | None) -> dict[str, str | None]:
    if raw is None:
        return {name: None}
    try:
        return {name: raw.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": b64encode(raw).decode()}


def _instant(micros: int | None) -> str | None:
    return None if micros is None or micros >= PARKED else exact_text(micros)
