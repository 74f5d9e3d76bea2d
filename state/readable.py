"""Turns rows of the state into tables that people read: texts, times in UTC, lateness."""

from typing import Any

import pyarrow as pa

from state.key_text import key_text
from state.row import (
    ATTEMPT,
    CHANGED_AT,
    DETAIL,
    DUE,
    KEY,
    KIND,
    OCCURRENCE,
    OUTPUT_TOPIC,
    PARKED,
    PUBLISHED_AT,
    REASON,
    SCHEDULED,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TIMESTAMP,
    SOURCE_TOPIC,
    STATUS,
)

TIME = pa.timestamp("us", tz="UTC")

LISTED = pa.schema(
    [
        pa.field("key", pa.string()),  # 0x... where it is no text
        pa.field("kind", pa.string()),
        pa.field("status", pa.string()),
        pa.field("topic", pa.string()),  # where it goes, or went
        pa.field("due", TIME),  # null while it is paused
        pa.field("paused", pa.bool_()),
        pa.field("asked_for", TIME),  # the instant that was asked for; due is later on a retry
        pa.field("published_at", TIME),
        pa.field("late_ms", pa.float64()),
        pa.field("attempts", pa.int32()),  # how often Kafka refused it
        pa.field("reason", pa.string()),
        pa.field("detail", pa.string()),
        pa.field("source", pa.string()),  # the record that made it: topic, partition, offset
        pa.field("partition", pa.int32()),
        pa.field("offset", pa.int64()),
        pa.field("occurrence", pa.int32()),  # of a repeat: which one
        pa.field("changed_at", TIME),
    ]
)

# The columns that a readable row is made from.
READ = [
    *(KEY, KIND, STATUS, OUTPUT_TOPIC, DUE, SCHEDULED, PUBLISHED_AT, ATTEMPT, REASON, DETAIL),
    *(SOURCE_TOPIC, SOURCE_PARTITION, SOURCE_OFFSET, SOURCE_TIMESTAMP, OCCURRENCE, CHANGED_AT),
]


def readable(rows: pa.Table) -> pa.Table:
    """Return rows as a table for people (LISTED), in the same order."""
    return pa.Table.from_pylist([_line(row) for row in rows.select(READ).to_pylist()], LISTED)


def times(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return microseconds as times in UTC."""
    return column.cast(pa.int64()).cast(TIME)


def late_by(row: dict[str, Any]) -> int | None:
    """Return by how many microseconds a message was late; None while it is not out.

    Counted from the instant asked for, or from the record that asked where that came later: what
    was due before it was even sent is not late by any fault of the job.
    """
    if row[PUBLISHED_AT] is None:
        return None
    return int(row[PUBLISHED_AT] - max(row[SCHEDULED], row[SOURCE_TIMESTAMP]))


def _line(row: dict[str, Any]) -> dict[str, Any]:
    paused, late = row[DUE] >= PARKED, late_by(row)
    return {
        "key": key_text(row[KEY]),
        "kind": row[KIND],
        "status": row[STATUS],
        "topic": row[OUTPUT_TOPIC],
        "due": None if paused else row[DUE],
        "paused": paused,
        "asked_for": row[SCHEDULED],
        "published_at": row[PUBLISHED_AT],
        "late_ms": None if late is None else late / 1_000,
        "attempts": row[ATTEMPT],
        "reason": row[REASON],
        "detail": row[DETAIL],
        "source": row[SOURCE_TOPIC],
        "partition": row[SOURCE_PARTITION],
        "offset": row[SOURCE_OFFSET],
        "occurrence": row[OCCURRENCE],
        "changed_at": row[CHANGED_AT],
    }
