"""Writes what would become of an event, for people and for programs."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from pipeline.cli.as_table import console
from pipeline.commands import Scope
from pipeline.control import Control
from pipeline.instants import relative_text
from pipeline.keys import key_text
from pipeline.planning.plan import NotTaken, Planned
from pipeline.planning.words import policy_in_words
from state.rules.repeat import Following
from state.rules.wishes import as_text

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LOCAL = "%a %Y-%m-%d %H:%M:%S %z"


def plan_json(planned: Planned | Control | NotTaken, key: bytes | None) -> str:
    """Return the plan as one JSON object."""
    return json.dumps(_as_dict(planned, key), ensure_ascii=False)


def print_plan(planned: Planned | Control | NotTaken, key: bytes | None, now: int) -> None:
    """Print what would become of the event, and when."""
    if isinstance(planned, NotTaken):
        typer.secho(f"refused: {planned.reason}", fg="red")
        typer.echo(planned.sentence)
        return
    out = console()
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in _facts(planned, key):
        table.add_row(name, Text(text))
    out.print(table)
    if isinstance(planned, Planned):
        out.print(_occurrences(planned, now))


def _as_dict(planned: Planned | Control | NotTaken, key: bytes | None) -> dict[str, Any]:
    if isinstance(planned, NotTaken):
        return {"admitted": False, "reason": planned.reason, "detail": planned.sentence}
    name = None if key is None else key_text(key)
    if isinstance(planned, Control):
        return {
            "admitted": True,
            "command": planned.command.value,
            "key": name,
            "scope": planned.scope.value,
            "topic": planned.topic,
            "due": None if planned.at is None else as_text(planned.at),
            "reason": planned.reason,
            "actor": planned.actor,
            "if_version": planned.if_version,
            "reply_to": planned.reply_to,
        }
    return {
        "admitted": True,
        "topic": planned.message.topic,
        "key": planned.message.key or name,
        "partition": planned.message.partition,
        "payload_bytes": None if planned.message.payload is None else len(planned.message.payload),
        "policy": policy_in_words(planned.asked.policy),
        "occurrences": [_occurrence(planned, one) for one in planned.occurrences],
        "more": planned.more,
    }


def _occurrence(planned: Planned, one: Following) -> dict[str, Any]:
    zone = _zone(planned)
    return {
        "number": one.occurrence + 1,
        "utc": as_text(one.scheduled),
        "local": _local(one.scheduled, zone, ""),
        "zone": zone,
        "skipped": one.skipped,
        "expires": _or_none(_expires(planned, one)),
        "sent": not _is_expired(planned, one),
    }


def _facts(planned: Planned | Control, key: bytes | None) -> Iterator[tuple[str, str]]:
    yield "verdict", "the job would take it"
    if isinstance(planned, Control):
        yield "command", planned.command.value
        yield "about", _about(planned, key)
        if planned.at is not None:
            yield "new instant", as_text(planned.at)
        for name in ("if_version", "reason", "actor", "reply_to"):
            if getattr(planned, name) is not None:
                yield name.replace("_", " "), getattr(planned, name)
        return
    message = planned.message
    yield "topic", message.topic
    yield "key", message.key or (key_text(key) if key else "that of the record")
    if message.partition is not None:
        yield "partition", str(message.partition)
    yield "payload", "null" if message.payload is None else f"{len(message.payload):,} bytes"
    for sentence in policy_in_words(planned.asked.policy):
        yield "policy", sentence


def _about(given: Control, key: bytes | None) -> str:
    if given.scope is Scope.ALL:
        return "everything"
    if given.scope is Scope.TOPIC:
        return f"all for the topic {given.topic}"
    return f"the key {key_text(key)}" if key else "the key of the record"


def _occurrences(planned: Planned, now: int) -> Table:
    zone = _zone(planned)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("#", justify="right")
    for name in (f"in {zone}", "UTC", "", ""):
        table.add_column(name, no_wrap=True)
    for one in planned.occurrences:
        local = _local(one.scheduled, zone, _LOCAL)
        far = "at once" if one.scheduled <= now else relative_text(one.scheduled, now)
        cells = (local, as_text(one.scheduled), far, _note(planned, one))
        table.add_row(str(one.occurrence + 1), *cells)
    if planned.more:
        table.add_row("...")
    return table


def _note(planned: Planned, one: Following) -> str:
    if _is_expired(planned, one):
        return "not sent: it has expired by then"
    return f"{one.skipped} missed before it" if one.skipped else ""


def _expires(planned: Planned, one: Following) -> int | None:
    return planned.asked.policy.at(one.scheduled).expires


def _is_expired(planned: Planned, one: Following) -> bool:
    expires = _expires(planned, one)
    return expires is not None and one.scheduled >= expires


def _zone(planned: Planned) -> str:
    repeat = planned.asked.policy.repeat
    return "UTC" if repeat is None else repeat.tz


def _local(micros: int, zone: str, form: str) -> str:
    """Write an instant by the clocks of a zone; in ISO 8601 without a form."""
    try:
        local = (_EPOCH + timedelta(microseconds=micros)).astimezone(ZoneInfo(zone))
    except OverflowError:  # after the year 9999
        return ""
    return local.strftime(form) if form else local.isoformat()


def _or_none(micros: int | None) -> str | None:
    return None if micros is None else as_text(micros)
