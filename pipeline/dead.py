"""Finds what ended as dead: messages Kafka refused for good, and records that were not admitted."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pipeline.reasons import sentence_of
from state.inspector import Filter, Inspector
from state.readable import TIME, readable
from state.row import (
    CHANGED_AT,
    DETAIL,
    HEADERS,
    KEY,
    KIND,
    OCCURRENCE,
    OUTPUT_TOPIC,
    PAYLOAD,
    REASON,
    ROW,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TIMESTAMP,
    SOURCE_TOPIC,
    STATUS,
    Kind,
    Status,
)
from state.version import Version, is_newer

OWN_HEADERS = "duestream-"  # how the names begin of the headers that a dead letter gets

_SAID = {REASON: "duestream-reason", DETAIL: "duestream-detail"}
_SINGLE_LOOKS = 20
_COUNTED = [REASON, DETAIL, KIND, OUTPUT_TOPIC, SOURCE_TOPIC, HEADERS, CHANGED_AT]
_VERSION = (SOURCE_TOPIC, SOURCE_PARTITION, SOURCE_OFFSET, SOURCE_TIMESTAMP, OCCURRENCE)

DEAD = pa.schema(
    [
        pa.field("reason", pa.string()),
        pa.field("kind", pa.string()),
        pa.field("topic", pa.string()),
        pa.field("dead", pa.int64()),
        pa.field("first", TIME),
        pa.field("last", TIME),
        pa.field("meaning", pa.string()),  # a sentence that explains the reason
    ]
)

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DeadFilter:
    """Which dead rows are wanted; what is left None does not narrow the choice."""

    key: bytes | None = None
    reason: str | None = None
    topic: str | None = None  # the output topic; of a record not admitted its source topic
    since: int | None = None  # microseconds: dead then or later

    def takes(self, row: Row) -> bool:
        """Tell whether a row is wanted."""
        return (
            self.reason in (None, row[REASON])
            and self.topic in (None, topic_of(row))
            and (self.since is None or row[CHANGED_AT] >= self.since)
        )


def dead_rows(inspector: Inspector, where: DeadFilter | None = None) -> list[Row]:
    """Return the dead rows that are wanted, all without a filter, the newest first."""
    wanted = where or DeadFilter()
    dead = Filter(statuses=[Status.DEAD], key=wanted.key, kind=None)
    rows = [with_reason(row) for row in inspector.rows(dead).to_pylist()]
    found = [row for row in rows if wanted.takes(row)]
    return sorted(found, key=lambda row: (row[CHANGED_AT], version_of(row)[1:]), reverse=True)


def dead_by_reason(inspector: Inspector) -> pa.Table:
    """Count what is dead: why, what it is, where it was to go or came from, and when it ended.

    A line for each reason, kind (message: Kafka refused it; rejection: it was not admitted) and
    topic; the most frequent first. Payloads are not read.
    """
    lines: dict[tuple[str, str, str], Row] = {}
    for part in inspector.scan(Filter(statuses=[Status.DEAD], kind=None), _COUNTED):
        for row in map(with_reason, part.to_pylist()):
            at, named = row[CHANGED_AT], (row[REASON] or "", row[KIND], topic_of(row))
            line = lines.setdefault(named, {"dead": 0, "first": at, "last": at})
            first, last = min(line["first"], at), max(line["last"], at)
            line |= {"dead": line["dead"] + 1, "first": first, "last": last}
    counted = [
        {"reason": reason, "kind": kind, "topic": topic, "meaning": sentence_of(reason), **line}
        for (reason, kind, topic), line in lines.items()
    ]
    counted.sort(key=lambda line: (-line["dead"], line["reason"], line["kind"], line["topic"]))
    return pa.Table.from_pylist(counted, DEAD)


def dead_list(rows: list[Row]) -> pa.Table:
    """Return dead rows as a table for people, payloads that are text included."""
    shown = readable(pa.Table.from_pylist(rows, ROW))
    texts = [(row[PAYLOAD] or b"").decode(errors="replace") for row in rows]
    return shown.append_column("payload", pa.array(texts, pa.string()))


def topic_of(row: Row) -> str:
    """Return the topic a row is about: where it was to go, or where it was not admitted."""
    name = OUTPUT_TOPIC if row[KIND] == Kind.MESSAGE else SOURCE_TOPIC
    return str(row[name])


def version_of(row: Row) -> Version:
    """Return the record that made a row."""
    return Version(*(row[name] for name in _VERSION))


def newer_versions(inspector: Inspector, rows: list[Row]) -> Iterator[Row | None]:
    """Yield for each row the newest version that came after it, None when there is none.

    A record that was not admitted does not stand in the way of a message: it changed nothing.
    """
    known = _known(inspector, rows)
    for row in rows:
        newest = None
        for other in known.get((row[SOURCE_TOPIC], row[KEY]), []):
            counts = other[KIND] in (Kind.MESSAGE, row[KIND])
            if counts and is_newer(version_of(other), version_of(newest or row)):
                newest = other
        yield newest


def _known(inspector: Inspector, rows: list[Row]) -> dict[tuple[str, bytes], list[Row]]:
    """Return the versions of the keys of ``rows``; many keys are looked up in one go."""
    keys = {(row[SOURCE_TOPIC], row[KEY]) for row in rows if row[KEY] is not None}
    known: dict[tuple[str, bytes], list[Row]] = {key: [] for key in keys}
    if len(keys) <= _SINGLE_LOOKS:
        for topic, key in keys:
            known[topic, key] = inspector.versions(key, topic).to_pylist()
        return known
    columns = [KEY, KIND, STATUS, *_VERSION]
    for row in inspector.rows(Filter(kind=None)).select(columns).to_pylist():
        if (row[SOURCE_TOPIC], row[KEY]) in known:
            known[row[SOURCE_TOPIC], row[KEY]].append(row)
    return known


def with_reason(row: Row) -> Row:
    """Fill in why a record was not admitted; once its letter is out only the headers say it."""
    said = {header["key"]: header["value"] for header in row[HEADERS] or []}
    found = {name: said[header].decode() for name, header in _SAID.items() if header in said}
    return row | {name: row[name] or text for name, text in found.items()}
