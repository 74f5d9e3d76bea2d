"""Writes a commit down before it is made, so that it can be finished by whoever comes next.

A commit changes many documents, and MongoDB changes them one by one. So what it changes is written
to the journal first; then one document, meta, is changed, which commits all of it; then the changes
are carried out (state.mongo.sending). Each is guarded by the number of the commit: carried out
again, or by somebody who is late, it changes nothing.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import bson
from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument
from pymongo.errors import DuplicateKeyError

from state.mongo.layout import JOURNAL, SEQ, Db, Document

_CHUNK_BYTES = 8 * 1024 * 1024
_RAW: CodecOptions[RawBSONDocument] = CodecOptions(document_class=RawBSONDocument)


class Way(StrEnum):
    """How a document is changed."""

    INSERT = "insert"  # it is not there yet
    REPLACE = "replace"  # it takes the place of an older one
    CHANGE = "change"  # some of its fields are set, others removed


class Change(NamedTuple):
    """What is to become of one document.

    ``item`` is the whole document, or, for a change of fields: its _id, the version it is ``at``,
    and what is ``set``.
    """

    way: Way
    collection: str
    item: RawBSONDocument
    gone: tuple[str, ...] = ()


class Chunk(NamedTuple):
    """Changes of the same kind that the server is sent together."""

    seq: int
    way: Way
    collection: str
    gone: Sequence[str]
    items: Sequence[RawBSONDocument]


def insert(collection: str, document: Document, seq: int) -> Change:
    """Return the change that adds a document."""
    return Change(Way.INSERT, collection, _raw(document | {SEQ: seq}))


def replace(collection: str, document: Document, seq: int) -> Change:
    """Return the change that puts a document in the place of an older one, or of none."""
    return Change(Way.REPLACE, collection, _raw(document | {SEQ: seq}))


def change(
    collection: str, id_: Any, at: str, values: Document, gone: Iterable[str], seq: int
) -> Change:
    """Return the change that sets some fields of the document of version ``at``."""
    item = _raw({"_id": id_, "at": at, "set": values | {SEQ: seq}})
    return Change(Way.CHANGE, collection, item, tuple(sorted(gone)))


def chunks(changes: Iterable[Change], seq: int, most: int) -> Iterator[Chunk]:
    """Divide changes so that each part fits one message and one document of the journal."""
    waiting: dict[tuple[Way, str, tuple[str, ...]], tuple[list[RawBSONDocument], int]] = {}
    for way, collection, item, gone in changes:
        held, size = waiting.get((way, collection, gone), ([], 0))
        length = len(item.raw)
        if held and (size + length > _CHUNK_BYTES or len(held) >= most):
            yield Chunk(seq, way, collection, gone, held)
            held, size = [], 0
        held.append(item)
        waiting[way, collection, gone] = (held, size + length)
    for (way, collection, gone), (held, _) in waiting.items():
        yield Chunk(seq, way, collection, gone, held)


def write_journal(db: Db, token: str, parts: Sequence[Chunk]) -> None:
    """Write down what a commit is to change; ``token`` names this attempt and no other."""
    for n, chunk in enumerate(parts):  # one by one: together they may be larger than a message
        document = {"_id": f"{token}/{n}", "token": token, "n": n, **chunk._asdict()}
        # It is there if the answer to the first try of this very attempt was lost.
        with contextlib.suppress(DuplicateKeyError):
            db[JOURNAL].insert_one(document)


def read_journal(db: Db, token: str) -> list[Chunk]:
    """Return what the commit that ``token`` names was to change."""
    found = db.get_collection(JOURNAL, codec_options=_RAW).find({"token": token}).sort("n", 1)
    return [
        Chunk(int(d[SEQ]), Way(d["way"]), d["collection"], list(d["gone"]), list(d["items"]))
        for d in found
    ]


def forget_before(db: Db, seq: int) -> None:
    """Remove what belongs to commits that were carried out."""
    db[JOURNAL].delete_many({SEQ: {"$lt": seq}})


def _raw(document: Document) -> RawBSONDocument:
    return RawBSONDocument(bson.encode(document))
