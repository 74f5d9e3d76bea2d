"""Turns claimed rows into what the lanes hold: columns as lists, one light object a row."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.outbox.headers import Headers
from pipeline.outbox.marker import Marker
from pipeline.outbox.traits import SERIES, Traits
from state import row
from state.admission import versions_of
from state.row import Kind
from state.rules.policy import Policy
from state.version import Version

FIRE_ID = "duestream-fire-id"  # the header that names a publication

HEADER_BYTES = 10  # of a header's length fields
BY_KEY = -1  # the number of a partition that is yet to be chosen
RECORD_BYTES = 100  # of a record batch's header and of a record's length fields

_MICROS_A_MILLI = 1000


class Chunk:
    """The columns of one hand-over as Python lists, shared by all its items.

    What every message needs is there from the beginning, so that no lane waits for it; the rest is
    read when it is asked for the first time.
    """

    def __init__(self, claims: pa.Table) -> None:
        self.claims = claims
        self.names = Names(claims)
        self.traits = Traits(claims)
        self.identity: list[bytes] = claims[row.IDENTITY].to_pylist()
        self.topic: list[str] = claims[row.OUTPUT_TOPIC].to_pylist()
        self.to_partition: list[int] = claims[row.OUTPUT_PARTITION].fill_null(BY_KEY).to_pylist()
        self.key: list[bytes | None] = _list(claims[row.OUTPUT_KEY])
        self.payload: list[bytes | None] = claims[row.PAYLOAD].to_pylist()
        self.headers = _headers(claims[row.HEADERS])
        self.names_partitions = claims[row.OUTPUT_PARTITION].null_count < claims.num_rows
        self.largest = _largest(claims)

    @cached_property
    def source_key(self) -> list[bytes | None]:
        """The keys of the records."""
        return _list(self.claims[row.KEY])

    @cached_property
    def kind(self) -> list[str]:
        """What the rows stand for."""
        return _list(self.claims[row.KIND])

    @cached_property
    def scheduled(self) -> list[int | None]:
        """The instants that were asked for."""
        return _list(self.claims[row.SCHEDULED])

    @cached_property
    def policy(self) -> list[str | None]:
        """What the messages ask for besides."""
        return _list(self.claims[row.POLICY])

    @cached_property
    def attempted_at(self) -> list[list[int] | None]:
        """When Kafka refused them before."""
        return _list(self.claims[row.ATTEMPTED_AT])

    @cached_property
    def claim(self) -> list[int]:
        """The batches that claimed them."""
        return _list(self.claims[row.CLAIM])


class Names:
    """Which records made the rows of one hand-over; light enough to be kept when they are out."""

    def __init__(self, claims: pa.Table) -> None:
        self._claims = claims.select([field.name for field in row.VERSION_FIELDS])

    def version(self, index: int) -> Version:
        """Return the record that made a row."""
        return self._versions[index]

    @cached_property
    def _versions(self) -> list[Version]:
        return [version for _, version in versions_of(self._claims)]


@dataclass(slots=True, eq=False)
class Item:
    """One claimed message that waits for its instant."""

    due: int
    chunk: Chunk
    index: int
    waiting: bool = True  # False once it is on its way out, or taken back
    held: bool = False  # a newer record for its key was seen: it waits until that one is read

    @property
    def identity(self) -> bytes:
        """The identity this message is a version of."""
        return self.chunk.identity[self.index]

    @property
    def version(self) -> Version:
        """The record that made it, and which repeat it is."""
        return self.chunk.names.version(self.index)

    @property
    def is_message(self) -> bool:
        """Whether somebody scheduled it; what the job itself has to say is sent as it is."""
        return self.chunk.kind[self.index] == Kind.MESSAGE

    @property
    def scheduled(self) -> int:
        """The instant that was asked for."""
        scheduled = self.chunk.scheduled[self.index]
        return self.due if scheduled is None else scheduled

    @property
    def fire_id(self) -> str:
        """Name this publication: the same on each attempt, of no other publication."""
        version = self.version
        scheduled = self.chunk.scheduled[self.index]
        return fire_id_of(
            version.topic, version.partition, version.offset, scheduled, version.occurrence
        )

    @property
    def policy(self) -> Policy:
        """What the message asks for besides."""
        return Policy.from_json(self.chunk.policy[self.index])

    @property
    def expires(self) -> int | None:
        """The instant from which on it is not sent: too late, or missed as one of a series."""
        ends = (self.policy.expires, self.policy.missed)
        return min((end for end in ends if end is not None), default=None)

    @property
    def is_of_series(self) -> bool:
        """Whether it repeats, or is one of those that do."""
        others = self.policy.others
        return others is not None and _is_series(others)

    def is_covered(self, marker: Marker) -> bool:
        """Tell whether a marker says that it is out."""
        claim = self.chunk.claim[self.index]
        if claim > marker.batch or self.due > marker.watermark:
            return False  # without looking for its name, which takes longer
        return not marker.besides or marker.covers(claim, self.due, self.version.coordinates)

    @property
    def attempted_at(self) -> list[int]:
        """When Kafka refused it before."""
        return self.chunk.attempted_at[self.index] or []


def fire_id_of(
    topic: str, partition: int, offset: int, scheduled: int | None, occurrence: int = 0
) -> str:
    """Return the fire id of the version made by this record, for this instant."""
    name = f"{topic}-{partition}-{offset}-{scheduled}"
    return f"{name}-{occurrence}" if occurrence else name


@lru_cache
def _is_series(others: str) -> bool:
    return bool(json.loads(others).get(SERIES))


def late_ms(scheduled: int, now: int) -> int:
    """Return how many whole milliseconds ``now`` is after an instant."""
    return max(now - scheduled, 0) // _MICROS_A_MILLI


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
    return message + most * (name + value + HEADER_BYTES) + RECORD_BYTES


def _longest(column: pa.ChunkedArray) -> int:
    return pc.max(pc.binary_length(column)).as_py() or 0


def _headers(column: pa.ChunkedArray) -> list[Headers | None]:
    """Read all headers at once: a nested ``to_pylist`` makes a dict of every single one."""
    result: list[Headers | None] = []
    if not pc.any(pc.greater(pc.list_value_length(column), 0)).as_py():
        return [None] * len(column)
    for part in column.chunks:
        pairs = part.flatten()
        keys, values = pairs.field("key").to_pylist(), pairs.field("value").to_pylist()
        start = 0
        for length in part.value_lengths().to_pylist():
            stop = start + (length or 0)
            result.append(list(zip(keys[start:stop], values[start:stop], strict=True)) or None)
            start = stop
    return result
