"""Writes rows and counts of the state as tables, for people."""

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pipeline.cli.commands import about
from pipeline.clock import instant_text
from pipeline.instants import relative_text, span_text
from pipeline.keys import key_text, payload_text
from pipeline.paused import instant_of, is_paused
from pipeline.remembered import read_remembered
from state.inspect import Ledger, Stats
from state.pausing import Paused
from state.row import (
    ATTEMPT,
    ATTEMPTED_AT,
    CHANGED_AT,
    DETAIL,
    HEADERS,
    KEY,
    KIND,
    OCCURRENCE,
    OUTPUT_KEY,
    OUTPUT_PARTITION,
    OUTPUT_TOPIC,
    PARKED,
    PAYLOAD,
    PUBLISHED_AT,
    PUBLISHED_OFFSET,
    PUBLISHED_PARTITION,
    REASON,
    SCHEDULED,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TIMESTAMP,
    SOURCE_TOPIC,
    STATUS,
    Kind,
    Status,
)

_COLOURS = {
    Status.PENDING: "cyan",
    Status.CLAIMED: "blue",
    Status.DONE: "green",
    Status.EXPIRED: "yellow",
    Status.DEAD: "red",
}
_HEX_SHOWN = 256
_SEPARATORS = ((",", ":"), (", ", ": "))


def console() -> Console:
    """Return where tables go; into a pipe they are not cut to the width of a terminal."""
    return Console(width=None if sys.stdout.isatty() else 200, highlight=False)


def rows_table(rows: Iterable[dict[str, Any]], now: int) -> Table:
    """Return one line for each row."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("key", overflow="fold", ratio=2)
    for name in ("status", "due", "", "topic"):
        table.add_column(name, overflow="fold", no_wrap=name in ("status", ""))
    table.add_column("bytes", justify="right")
    for row in rows:
        size = "null" if row[PAYLOAD] is None else str(len(row[PAYLOAD]))
        due = (instant_text(instant_of(row)), relative_text(instant_of(row), now))
        cells = (Text(key_text(row[KEY])), _status(row), *due, Text(row[OUTPUT_TOPIC] or ""))
        table.add_row(*cells, size)
    return table


def version_table(row: dict[str, Any], now: int) -> Table:
    """Return all that is known of one version."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    facts = _command_facts(row) if row[KIND] == Kind.COMMAND else _facts(row, now)
    for name, value in facts:
        table.add_row(name, value)
    return table


def stats_table(stats: Stats, now: int) -> Table:
    """Return the state at a glance."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column()
    for status in Status:
        table.add_row(
            Text(status, _COLOURS.get(status, "")), f"{stats.ledger.ends.get(status, 0):,}"
        )
    table.add_section()
    for name, value in _glance(stats, now):
        table.add_row(name, value)
    for topic, count in sorted(stats.pending_by_topic.items()):
        table.add_row(Text(f"pending for {topic}"), f"{count:,}")
    return table


def _status(row: dict[str, Any]) -> Text:
    if is_paused(row):
        return Text("paused", "yellow")
    return Text(row[STATUS], _COLOURS.get(Status(row[STATUS]), ""))


def _facts(row: dict[str, Any], now: int) -> Iterator[tuple[str, Text | str]]:
    yield "key", Text(key_text(row[KEY]), "bold")
    yield "status", _status(row)
    yield "due", f"{instant_text(instant_of(row))}, {relative_text(instant_of(row), now)}"
    yield "to", Text(_target(row))
    yield "from", Text(_record(row))
    if row[OCCURRENCE]:  # the state counts from 0, the header duestream-occurrence from 1
        yield "occurrence", f"{row[OCCURRENCE] + 1} of its series"
    if row[STATUS] == Status.DONE:
        yield "published", _receipt(row)
    if row[ATTEMPT]:
        yield "refused", ", ".join(map(instant_text, row[ATTEMPTED_AT] or []))
    if row[SCHEDULED] not in (None, instant_of(row)):
        yield "asked for", instant_text(row[SCHEDULED])
    if row[REASON]:
        yield "reason", Text(": ".join(filter(None, (row[REASON], row[DETAIL]))))
    if row[CHANGED_AT] is not None:
        yield "changed", instant_text(row[CHANGED_AT])
    for header in row[HEADERS] or []:
        yield "header", Text(f"{header['key']}: {key_text(header['value'])}")
    yield "payload", Text(_payload(row[PAYLOAD]))


def _command_facts(row: dict[str, Any]) -> Iterator[tuple[str, Text | str]]:
    """Tell of a command what ``duestream commands`` does, and which record it was."""
    given = read_remembered(row)
    yield "command", Text(given.what, "bold")
    yield "about", Text(about(given))
    yield "effect", Text(given.effect)
    yield "who", Text(given.who)
    if given.why:
        yield "why", Text(given.why)
    yield "from", Text(_record(row))


def _record(row: dict[str, Any]) -> str:
    place = f"{row[SOURCE_TOPIC]}, partition {row[SOURCE_PARTITION]}, offset {row[SOURCE_OFFSET]}"
    return f"{place}, {instant_text(row[SOURCE_TIMESTAMP])}"


def _target(row: dict[str, Any]) -> str:
    parts = [row[OUTPUT_TOPIC] or ""]
    if row[OUTPUT_PARTITION] is not None:
        parts.append(f"partition {row[OUTPUT_PARTITION]}")
    parts.append("no key" if row[OUTPUT_KEY] is None else f"key {key_text(row[OUTPUT_KEY])}")
    return ", ".join(parts)


def _receipt(row: dict[str, Any]) -> str:
    if row[PUBLISHED_OFFSET] is None:
        return "receipt unknown: the job stopped between publishing and noting it"
    place = f"partition {row[PUBLISHED_PARTITION]}, offset {row[PUBLISHED_OFFSET]}"
    if row[PUBLISHED_AT] is None:
        return place
    late = span_text(max(0, row[PUBLISHED_AT] - row[SCHEDULED]))
    return f"{place}, {instant_text(row[PUBLISHED_AT])}, {late} after due"


def _payload(payload: bytes | None) -> str:
    if payload is None:
        return "null"
    text = payload_text(payload)
    if text is None:
        more = f"... ({len(payload)} bytes)" if len(payload) > _HEX_SHOWN else ""
        return f"0x{payload[:_HEX_SHOWN].hex()}{more}"
    return _indented(text)


def _indented(text: str) -> str:
    """Break JSON into lines, but only where that leaves every number and text as it is written."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    written = (json.dumps(value, ensure_ascii=False, separators=s) for s in _SEPARATORS)
    if text not in written:
        return text
    return json.dumps(value, ensure_ascii=False, indent=2)


def _glance(stats: Stats, now: int) -> Iterator[tuple[str, str]]:
    yield "accepted", f"{stats.ledger.accepted:,} ({_ledger(stats.ledger)})"
    yield "rejected", f"{stats.ledger.rejected:,}"
    yield "late cancels", f"{stats.ledger.late_cancels:,}"
    yield "missed repeats", f"{stats.ledger.missed:,}"
    yield "next due", _when(stats.next_due, now)
    yield "oldest overdue", _when(stats.oldest_overdue, now)
    yield "paused", f"{stats.paused:,}{_pauses(stats.pauses)}"
    yield "last batch", "none yet" if stats.last_batch < 0 else str(stats.last_batch)


def _pauses(pauses: Paused) -> str:
    """Return what is paused besides single keys, for a resume to name."""
    if pauses.everything:
        return ", and everything that falls due"
    topics = ", ".join(sorted(pauses.topics))
    return f", and all that falls due for {topics}" if topics else ""


def _ledger(ledger: Ledger) -> str:
    if ledger.difference == 0:
        return "the ledger closes"
    word = "missing" if ledger.difference > 0 else "too many"
    return f"the ledger does not close: {abs(ledger.difference):,} {word}"


def _when(instant: int | None, now: int) -> str:
    if instant is None or instant >= PARKED:
        return "none"
    return f"{instant_text(instant)}, {relative_text(instant, now)}"
