"""Turns claimed rows into what the lanes hold: columns as lists, one light object a row."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from state import row
from state.version import Version

FIRE_ID = "duestream-fire-id"  # the header that names a publication

_HEADER = 10  # bytes of a header's length fields
_OVERHEAD = 100  # bytes of a record batch's header and of a record's length fields

Headers = list[tuple[str, str | bytes | None]]


class Chunk:
    """The columns of one hand-over as Python lists, shared by all its items."""

    __slots__ = (
        "attempted_at",
        "claim",
        "detail",
        "headers",
        "identity",
        "key",
        "kind",
        "largest",
        "names_partitions",
        "offset",
        "partition",
        "payload",
        "policy",
        "reason",
        "scheduled",
        "source_key",
        "source_topic",
        "timestamp",
        "to_partition",
        "topic",
    )

    def __init__(self, claims: pa.Table) -> None:
        self.identity: list[bytes] = claims[row.IDENTITY].to_pylist()
        self.source_topic: list[str] = claims[row.SOURCE_TOPIC].to_pylist()
        self.partition: list[int] = claims[row.SOURCE_PARTITION].to_pylist()
        self.offset: list[int] = claims[row.SOURCE_OFFSET].to_pylist()
        self.timestamp: list[int] = claims[row.SOURCE_TIMESTAMP].to_pylist()
        self.source_key: list[bytes | None] = _list(claims[row.KEY])
        self.kind: list[str] = claims[row.KIND].to_pylist()
        self.topic: list[str] = claims[row.OUTPUT_TOPIC].to_pylist()
        self.to_partition: list[int | None] = _list(claims[row.OUTPUT_PARTITION])
        self.key: list[bytes | None] = _list(claims[row.OUTPUT_KEY])
        self.payload: list[bytes | None] = claims[row.PAYLOAD].to_pylist()
        self.headers = _headers(claims[row.HEADERS])
        self.scheduled: list[int | None] = claims[row.SCHEDULED].to_pylist()
        self.reason: list[str | None] = _list(claims[row.REASON])
        self.detail: list[str | None] = _list(claims[row.DETAIL])
        self.policy: list[str | None] = _list(claims[row.POLICY])
        self.attempted_at: list[list[int] | None] = _list(claims[row.ATTEMPTED_AT])
        self.claim: list[int] = claims[row.CLAIM].to_pylist()
        self.names_partitions = claims[row.OUTPUT_PARTITION].null_count < claims.num_rows
        self.largest = _largest(claims)


@dataclass(slots=True, eq=False)
class Item:
    """One claimed message that waits for its instant."""

    due: int
    chunk: Chunk
    index: int
    waiting: bool = True  # False once it is on its way out, or taken back

    @property
    def identity(self) -> bytes:
        """The identity this message is a version of."""
        return self.chunk.identity[self.index]

    @property
    def version(self) -> Version:
        """The record that made it."""
        chunk, i = self.chunk, self.index
        return Version(
            chunk.source_topic[i], chunk.partition[i], chunk.offset[i], chunk.timestamp[i]
        )

    @property
    def size(self) -> int:
        """The bytes of the record, with what Kafka adds to a batch of one."""
        chunk, i = self.chunk, self.index
        named = sum(len(k) + len(v or b"") + _HEADER for k, v in chunk.headers[i] or ())
        return len(chunk.payload[i] or b"") + len(chunk.key[i] or b"") + named + _OVERHEAD

    @property
    def fire_id(self) -> str:
        """Name this publication: the same on each attempt, of no other publication."""
        chunk, i = self.chunk, self.index
        return fire_id_of(
            chunk.source_topic[i], chunk.partition[i], chunk.offset[i], chunk.scheduled[i]
        )

    @property
    def policy(self) -> str | None:
        """What the message asks for besides, as JSON."""
        return self.chunk.policy[self.index]

    @property
    def attempted_at(self) -> list[int]:
        """When Kafka refused it before."""
        return self.chunk.attempted_at[self.index] or []


def fire_id_of(topic: str, partition: int, offset: int, scheduled: int | None) -> str:
    """Return the fire id of the version made by this record, for this instant."""
    return f"{topic}-{partition}-{offset}-{scheduled}"


def items_by_lane(claims: pa.Table, lanes: int) -> Iterator[tuple[int, Item]]:
    """Yield each claimed row with its lane, in the order of the table."""
    chunk = Chunk(claims)
    dues: list[int] = claims[row.DUE].to_pylist()
    hashes: list[int] = claims[row.HASH].to_pylist()
    for index, (due, number) in enumerate(zip(dues, hashes, strict=True)):
        yield number % lanes, Item(due, chunk, index)


def _list(column: pa.ChunkedArray) -> list[Any]:
    """Return a column as a list; most of them are quite empty most of the time."""
    empty = column.null_count == len(column)
    return [None] * len(column) if empty else column.to_pylist()


def _largest(claims: pa.Table) -> int:
    """Return a size that no item of the table exceeds, without looking at each of them."""
    pairs = pc.list_flatten(claims[row.HEADERS])
    most = pc.max(pc.list_value_length(claims[row.HEADERS])).as_py() or 0
    name, value = (_longest(pc.struct_field(pairs, part)) for part in ("key", "value"))
    message = _longest(claims[row.PAYLOAD]) + _longest(claims[row.OUTPUT_KEY])
    return message + most * (name + value + _HEADER) + _OVERHEAD


def _longest(column: pa.ChunkedArray) -> int:
    return pc.max(pc.binary_length(column)).as_py() or 0


def _headers(column: pa.ChunkedArray) -> list[Headers | None]:
    """Read all headers at once: a nested ``to_pylist`` makes a dict of every single one."""
    result: list[Headers | None] = []
    for part in column.chunks:
        pairs = part.flatten()
        keys, values = pairs.field("key").to_pylist(), pairs.field("value").to_pylist()
        start = 0
        for length in part.value_lengths().to_pylist():
            stop = start + (length or 0)
            result.append(list(zip(keys[start:stop], values[start:stop], strict=True)) or None)
            start = stop
    return result
