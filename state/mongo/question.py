"""Puts a filter into the words of the database."""

from collections.abc import Sequence

from state.cursor import ORDER, Cursor
from state.inspector import Filter
from state.mongo.layout import CLOSED_AT, VERSIONS, Document
from state.mongo.meta import Meta
from state.row import (
    CHANGED_AT,
    CLOSED,
    DUE,
    IDENTITY,
    KEY,
    KIND,
    OUTPUT_TOPIC,
    POLICY,
    REPEATS,
    STATUS,
    Kind,
    Status,
)

# What a filter may ask about; a row that is read in part needs these as well.
_ASKED = (*ORDER, IDENTITY, KEY, KIND, OUTPUT_TOPIC, POLICY, STATUS, CHANGED_AT)


def question(where: Filter, meta: Meta) -> Document:
    """Return all of a filter but the beginning of a key, for which there are no words."""
    terms: Document = {}
    if where.statuses is not None:
        terms[STATUS] = {"$in": [Status(status).value for status in where.statuses]}
    if where.output_topic is not None:
        terms[OUTPUT_TOPIC] = where.output_topic
    if where.kind is not None:
        terms[KIND] = where.kind.value
    if where.changed_from is not None:
        terms[_changed(where)] = {"$gte": where.changed_from}
    if where.repeating:
        terms[POLICY] = {"$regex": REPEATS}
    if where.after is not None:
        terms["$and"] = [{"$or": _after(where.after)}]
    if bounds := _bounds(where):
        terms[DUE] = bounds
    return terms | ({} if where.key is None else of_key(where.key, meta))


def of_key(key: bytes, meta: Meta) -> Document:
    """Return the question for all versions of a key."""
    identities = [topic.encode() + b"\0" + key for topic in meta.taken]
    about = [{KIND: kind.value, KEY: key} for kind in (Kind.REJECTION, Kind.COMMAND)]
    return {"$or": [{IDENTITY: {"$in": identities}}, *about]}


def worded(name: str, where: Document) -> Document:
    """Return a question in the words of a collection: the _id of a schedule is its identity."""
    if name == VERSIONS or "$or" not in where:
        return where
    named, *about = where["$or"]
    return where | {"$or": [{"_id": named[IDENTITY]}, *about]}


def looked_at(columns: Sequence[str]) -> Document:
    """Return which fields of a document are read, for some columns of its row."""
    return dict.fromkeys([*columns, *_ASKED], 1)


def _changed(where: Filter) -> str:
    """Return the field that says when a row was changed; of closed ones that with an index."""
    only_closed = where.statuses is not None and set(where.statuses) <= CLOSED
    return CLOSED_AT if only_closed else CHANGED_AT


def _bounds(where: Filter) -> Document:
    lower = [each for each in (where.due_from, where.after and where.after.due) if each is not None]
    bounds = {"$gte": max(lower, default=None), "$lt": where.due_to}
    return {name: value for name, value in bounds.items() if value is not None}


def _after(cursor: Cursor) -> list[Document]:
    """Return the alternatives for what lies after a place: the first value that differs decides."""
    values = dict(zip(ORDER, cursor, strict=True))
    return [
        {**{same: values[same] for same in ORDER[:place]}, name: {"$gt": values[name]}}
        for place, name in enumerate(ORDER)
    ]
