"""Finds the commands that were given: when, about which key, by whom, why, and their effect."""

import json
from dataclasses import dataclass
from typing import Any

from state.inspect import Filter, Inspector
from state.row import CHANGED_AT, DETAIL, KEY, REASON, Kind


@dataclass(frozen=True, slots=True)
class Remembered:
    """One command, as it was given and what came of it."""

    when: int
    key: bytes | None
    what: str
    effect: str
    who: str
    why: str
    scope: str = "key"
    topic: str | None = None  # of the scope topic


def remembered(inspector: Inspector, key: bytes | None = None) -> list[Remembered]:
    """Return the commands that are still known, the newest first."""
    rows = inspector.rows(Filter(kind=Kind.COMMAND)).select([CHANGED_AT, KEY, REASON, DETAIL])
    found = [read_remembered(row) for row in rows.to_pylist() if key is None or row[KEY] == key]
    return sorted(found, key=lambda one: one.when, reverse=True)


def read_remembered(row: dict[str, Any]) -> Remembered:
    """Return the command that a row tells of."""
    said = _said(row[DETAIL])
    return Remembered(
        when=row[CHANGED_AT],
        key=row[KEY],
        what=said.get("what", ""),
        effect=said.get("effect") or row[REASON] or "",
        who=said.get("who", ""),
        why=said.get("why", ""),
        scope=said.get("scope", "key"),
        topic=said.get("topic"),
    )


def _said(detail: str | None) -> dict[str, str]:
    try:
        said = json.loads(detail or "{}")
    except ValueError:  # the sentence why its reply could not be sent
        return {}
    return {name: str(value) for name, value in said.items() if value is not None}
