"""Turns rows into documents and back; what is null is left out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

import pyarrow as pa

from state.mongo.layout import NEWEST, SCHEDULES, VERSIONS, Document
from state.row import (
    CLAIM,
    IDENTITY,
    OCCURRENCE,
    ROW,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TIMESTAMP,
    SOURCE_TOPIC,
    STATUS,
)
from state.version import Coordinates, Version

_version = itemgetter(SOURCE_TOPIC, SOURCE_PARTITION, SOURCE_OFFSET, SOURCE_TIMESTAMP, OCCURRENCE)
_MOST_IDS = 5_000
_MOST_BYTES = 4 * 1024 * 1024


def identity_in(document: Document) -> bytes:
    """Return the identity a document of either collection is about."""
    found: bytes = document[IDENTITY] if IDENTITY in document else document["_id"]
    return found


def collection_of(document: Document) -> str:
    """Return which collection a document that was read is from."""
    return VERSIONS if IDENTITY in document else SCHEDULES


def coordinates_in(document: Mapping[str, Any]) -> Coordinates | None:
    """Return which version it is; None for one that only remembers a cancel."""
    if document.get(STATUS) is None:
        return None
    return version_in(document).coordinates


def version_id(coordinates: Coordinates) -> str:
    """Return the _id of a version that was displaced."""
    return "/".join(map(str, coordinates))


def version_in(document: Mapping[str, Any]) -> Version:
    """Return which version a document is about, with the time of its record."""
    return Version._make(_version(document))


def newest_in(document: Document) -> Version:
    """Return the newest command that is known of a key."""
    return Version(*document[NEWEST])


def rows_of(documents: Sequence[Document]) -> pa.Table:
    """Return documents as rows, column by column."""
    columns = [
        pa.array([identity_in(d) for d in documents], pa.binary())
        if field.name == IDENTITY
        else pa.array([d.get(field.name) for d in documents], field.type)
        for field in ROW
    ]
    return pa.Table.from_arrays(columns, schema=ROW)


def contents_of(rows: pa.Table) -> list[Document]:
    """Return rows as documents without an _id, null fields left out."""
    names = [n for n in ROW.names if n != IDENTITY and rows.column(n).null_count < rows.num_rows]
    columns = [rows.column(name).to_pylist() for name in names]
    return [
        {name: value for name, value in zip(names, values, strict=True) if value is not None}
        for values in zip(*columns, strict=True)
    ]


def slices(ids: Iterable[Any]) -> Iterator[list[Any]]:
    """Divide names so that each part fits one question."""
    some: list[Any] = []
    size = 0
    for each in ids:
        if some and (len(some) >= _MOST_IDS or size + len(each) > _MOST_BYTES):
            yield some
            some, size = [], 0
        some.append(each)
        size += len(each)
    if some:
        yield some


def without(document: Document, names: Iterable[str]) -> Document:
    """Return a document without some of its fields."""
    left_out = set(names)
    return {name: value for name, value in document.items() if name not in left_out}


def claim_of(document: Document) -> int:
    """Return the batch that has claimed a row."""
    return int(document[CLAIM])
