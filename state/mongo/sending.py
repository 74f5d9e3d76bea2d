"""Has the server make the changes of a commit, in bulk; those it has made before change nothing.

Many documents are changed by one statement where that is possible: each statement is planned by
itself, which takes a server several times as long as the change.
"""

import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pymongo.errors import OperationFailure, WTimeoutError

from state.crashpoint import Point, reach
from state.mongo.journal import Chunk, Way
from state.mongo.layout import SCHEDULES, SEQ, Db, Document
from state.row import OCCURRENCE, SOURCE_OFFSET, SOURCE_PARTITION, SOURCE_TOPIC

Send = Callable[[Sequence[Chunk]], int]

_AT_A_TIME = 2  # statements: a server carries out each in one thread

_STALE = 11000  # it is there already: an insert, or the insert half of an upsert, hits its _id

# The version a document is about, as state.mongo.documents.version_id writes it.
_VERSION: Document = {
    "$concat": [
        f"${SOURCE_TOPIC}",
        "/",
        {"$toString": f"${SOURCE_PARTITION}"},
        "/",
        {"$toString": f"${SOURCE_OFFSET}"},
        "/",
        {"$toString": f"${OCCURRENCE}"},
    ]
}


def carry_out(db: Db, parts: Sequence[Chunk]) -> int:
    """Have all changes made; return how many had been made before.

    No two of them are of one document, so their order does not matter.
    """
    left = deque(parts)

    def some() -> int:
        stale = 0
        try:
            while (chunk := _next(left)) is not None:
                stale += send(db, chunk)
                reach(Point.DURING_APPLY)
        except BaseException:
            left.clear()  # the other one ends as well: all of it is tried again
            raise
        return stale

    if len(parts) < 2:
        return some()
    with ThreadPoolExecutor(_AT_A_TIME, "carry out") as threads:
        return sum(done.result() for done in [threads.submit(some) for _ in range(_AT_A_TIME)])


def _next(left: deque[Chunk]) -> Chunk | None:
    with contextlib.suppress(IndexError):
        return left.popleft()
    return None


def send(db: Db, chunk: Chunk) -> int:
    """Have the changes of one chunk made; return how many had been made before."""
    command = _COMMANDS[chunk.way](chunk)
    answer = db.command(
        command | {"ordered": False, "writeConcern": db.write_concern.document}, check=True
    )
    if "writeConcernError" in answer:
        concern = answer["writeConcernError"]
        raise WTimeoutError(concern.get("errmsg", "the write is not safe yet"), concern.get("code"))
    for error in answer.get("writeErrors", ()):
        if error["code"] != _STALE:
            raise OperationFailure(error.get("errmsg", "a write was refused"), error["code"])
    return len(chunk.items) - int(answer["n"])


def _insert(chunk: Chunk) -> Document:
    return {"insert": chunk.collection, "documents": list(chunk.items)}


def _replace(chunk: Chunk) -> Document:
    updates = [
        {"q": _older([item["_id"]], chunk.seq), "u": item, "upsert": True} for item in chunk.items
    ]
    return {"update": chunk.collection, "updates": updates}


def _change(chunk: Chunk) -> Document:
    ids = [item["_id"] for item in chunk.items]
    alike = len({bytes(item["set"].raw) for item in chunk.items}) == 1
    update = _set_all(chunk) if alike else _set_each(chunk)
    statement = {"q": _older(ids, chunk.seq), "u": update, "multi": True}
    return {"update": chunk.collection, "updates": [statement]}


def _older(ids: list[Any], seq: int) -> Document:
    return {"_id": ids[0] if len(ids) == 1 else {"$in": ids}, SEQ: {"$lt": seq}}


def _set_all(chunk: Chunk) -> Document:
    unset = {"$unset": dict.fromkeys(chunk.gone, "")} if chunk.gone else {}
    return {"$set": chunk.items[0]["set"], **unset}


def _set_each(chunk: Chunk) -> list[Document]:
    """Return an update that finds in a table what each document is to be set to."""
    table = {item["at"]: item["set"] for item in chunk.items}
    at: Any = _VERSION if chunk.collection == SCHEDULES else "$_id"
    found = {"$getField": {"field": at, "input": {"$literal": table}}}
    steps: list[Document] = [{"$replaceWith": {"$mergeObjects": ["$$ROOT", found]}}]
    return [*steps, {"$unset": list(chunk.gone)}] if chunk.gone else steps


_COMMANDS: dict[Way, Callable[[Chunk], Document]] = {
    Way.INSERT: _insert,
    Way.REPLACE: _replace,
    Way.CHANGE: _change,
}
