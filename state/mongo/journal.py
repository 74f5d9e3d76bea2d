"""Writes a commit down before it is made, so that it can be finished by whoever comes next.

A commit changes many documents, and MongoDB changes them one by one. So what it changes is written
to the journal first, as the very statements the server is to carry out; then one document, meta,
is changed, which commits all of it; then the statements are carried out. Each is guarded by the
number of the commit: carried out again, or by somebody who is late, it changes nothing.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import bson
from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument
from pymongo.errors import BulkWriteError, OperationFailure, WTimeoutError

from state.crashpoint import Point, reach
from state.mongo.layout import JOURNAL, SEQ, Db, Document

_STALE = 11000  # the document is there and not older: the insert half of an upsert hits its _id
_CHUNK_BYTES = 8 * 1024 * 1024
_RAW: CodecOptions[RawBSONDocument] = CodecOptions(document_class=RawBSONDocument)

log = logging.getLogger(__name__)


class Statement(NamedTuple):
    """One update of one document, encoded as the server takes it."""

    collection: str
    body: bytes


class Chunk(NamedTuple):
    """Statements for one collection that the server is sent together."""

    collection: str
    updates: Sequence[RawBSONDocument]


Send = Callable[[Sequence[Chunk]], int]


def write_whole(collection: str, document: Document, seq: int) -> Statement:
    """Return the statement that puts a document in the place of an older one, or of none."""
    body = {
        "q": {"_id": document["_id"], SEQ: {"$lt": seq}},
        "u": document | {SEQ: seq},
        "upsert": True,
    }
    return Statement(collection, bson.encode(body))


def write_fields(
    collection: str, id_: Any, values: Document, gone: Iterable[str], seq: int
) -> Statement:
    """Return the statement that sets some fields of a document and removes others."""
    change: Document = {"$set": values | {SEQ: seq}}
    removed = {name: "" for name in gone}
    if removed:
        change["$unset"] = removed
    return Statement(collection, bson.encode({"q": {"_id": id_, SEQ: {"$lt": seq}}, "u": change}))


def chunks(statements: Iterable[Statement], most: int) -> Iterator[Chunk]:
    """Divide statements so that each part fits one message and one document of the journal."""
    waiting: dict[str, tuple[list[RawBSONDocument], int]] = {}
    for collection, body in statements:
        held, size = waiting.get(collection, ([], 0))
        if held and (size + len(body) > _CHUNK_BYTES or len(held) >= most):
            yield Chunk(collection, held)
            held, size = [], 0
        held.append(RawBSONDocument(body))
        waiting[collection] = (held, size + len(body))
    for collection, (held, _) in waiting.items():
        yield Chunk(collection, held)


def write_journal(db: Db, seq: int, token: str, parts: Sequence[Chunk]) -> None:
    """Write down what a commit is to change; ``token`` names this attempt and no other."""
    documents = [
        {"_id": f"{token}/{n}", SEQ: seq, "token": token, "n": n, **chunk._asdict()}
        for n, chunk in enumerate(parts)
    ]
    for document in documents:  # one by one: together they may be larger than a message
        try:
            db[JOURNAL].insert_many([document], ordered=False)
        except BulkWriteError as error:
            if _worst(error.details) != _STALE:
                raise
            # Written by the first try of this very attempt, whose answer was lost.


def read_journal(db: Db, token: str) -> list[Chunk]:
    """Return what the commit that ``token`` names was to change."""
    found = db.get_collection(JOURNAL, codec_options=_RAW).find({"token": token}).sort("n", 1)
    return [Chunk(str(d["collection"]), list(d["updates"])) for d in found]


def forget_before(db: Db, seq: int) -> None:
    """Remove what belongs to commits that were carried out."""
    db[JOURNAL].delete_many({SEQ: {"$lt": seq}})


def carry_out(db: Db, parts: Sequence[Chunk]) -> int:
    """Have the server make the changes; return how many it had made already."""
    stale = 0
    for chunk in parts:
        stale += send(db, chunk)
        reach(Point.DURING_APPLY)
    return stale


def send(db: Db, chunk: Chunk) -> int:
    """Have the server carry out one chunk; return how many statements came too late."""
    answer = db.command(
        {
            "update": chunk.collection,
            "updates": list(chunk.updates),
            "ordered": False,
            "writeConcern": db.write_concern.document,
        }
    )
    if "writeConcernError" in answer:
        concern = answer["writeConcernError"]
        raise WTimeoutError(concern.get("errmsg", "the write is not safe yet"), concern.get("code"))
    if answer.get("writeErrors") and (worst := _worst(answer)) != _STALE:
        raise OperationFailure(_message(answer), worst)
    stale = len(answer.get("writeErrors", ()))
    unmatched = len(chunk.updates) - int(answer.get("n", 0)) - stale
    return stale + unmatched


def _worst(answer: Any) -> int:
    codes = {int(error["code"]) for error in answer.get("writeErrors", ())}
    return next(iter(codes - {_STALE}), _STALE)


def _message(answer: Any) -> str:
    errors = [e for e in answer["writeErrors"] if e["code"] != _STALE]
    return str(errors[0].get("errmsg", "a write was refused"))
