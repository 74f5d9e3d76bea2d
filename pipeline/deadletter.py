"""Turns what is refused into a dead letter: the record as it came, and headers that say why."""

import zlib
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.facts import facts_of
from pipeline.identity import rejection_identity
from pipeline.raw import RAW_HEADERS, RAW_VALUE, TIMED_COMMANDS, VERDICT
from state.columns import reshape
from state.row import (
    DETAIL,
    DUE,
    ENTRY,
    HASH,
    HEADERS,
    IDENTITY,
    KEY,
    KIND,
    OUTPUT_KEY,
    OUTPUT_PARTITION,
    OUTPUT_TOPIC,
    PAYLOAD,
    REASON,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TIMESTAMP,
    SOURCE_TOPIC,
    Entry,
    Kind,
)
from state.version import Version

REASON_HEADER = "duestream-reason"
DETAIL_HEADER = "duestream-detail"
TOPIC_HEADER = "duestream-topic"
PARTITION_HEADER = "duestream-partition"
OFFSET_HEADER = "duestream-offset"
TIMESTAMP_HEADER = "duestream-timestamp"  # milliseconds, as Kafka counts

_MICROS_A_MILLI = 1000


def with_dead_letters(lines: pa.Table, topic: str) -> pa.Table:
    """Return the lines as commands; what was refused is a rejection, bound for ``topic``."""
    refused = pc.is_valid(lines[VERDICT])
    taken = reshape(lines.filter(pc.invert(refused)), TIMED_COMMANDS)
    letters = [_letter(row, topic) for row in lines.filter(refused).to_pylist()]
    return pa.concat_tables([taken, pa.Table.from_pylist(letters, TIMED_COMMANDS)])


def dead_letter_headers(reason: str, detail: str, version: Version) -> list[tuple[str, bytes]]:
    """Return the headers that say why, and where the record came from."""
    said = {
        REASON_HEADER: reason,
        DETAIL_HEADER: detail,
        TOPIC_HEADER: version.topic,
        PARTITION_HEADER: version.partition,
        OFFSET_HEADER: version.offset,
        TIMESTAMP_HEADER: version.timestamp // _MICROS_A_MILLI,
    }
    return [(name, str(value).encode()) for name, value in said.items()]


def _letter(row: dict[str, Any], topic: str) -> dict[str, Any]:
    version = Version(
        row[SOURCE_TOPIC], row[SOURCE_PARTITION], row[SOURCE_OFFSET], row[SOURCE_TIMESTAMP]
    )
    reason, _, sentence = str(row[VERDICT]).partition(" ")
    detail = sentence.format_map(facts_of(row))
    identity = rejection_identity(version)
    why = [
        {"key": name, "value": value}
        for name, value in dead_letter_headers(reason, detail, version)
    ]
    return row | {
        ENTRY: Entry.REJECT.value,
        IDENTITY: identity,
        HASH: zlib.crc32(identity),
        KIND: Kind.REJECTION.value,
        OUTPUT_TOPIC: topic,
        OUTPUT_PARTITION: None,
        OUTPUT_KEY: row[KEY],
        PAYLOAD: row[RAW_VALUE],
        HEADERS: [*(row[RAW_HEADERS] or ()), *why],
        DUE: version.timestamp,
        REASON: reason,
        DETAIL: detail,
    }
