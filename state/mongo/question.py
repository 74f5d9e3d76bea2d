"""Puts a filter into the words of the database."""

from collections.abc import Sequence

from state.cursor import ORDER, Cursor
from state.inspector import Filter
from state.mongo.layout import Document
from state.row import (
    CHANGED_AT,
    DUE,
    IDENTITY,
    KEY,
    KIND,
    OUTPUT_TOPIC,
    POLICY,
    REPEATS,
    SOURCE_TOPIC,
    STATUS,
    Status,
)

# What a filter may ask about; a row that is read in part needs these as well.
_ASKED = (*ORDER, IDENTITY, KEY, KIND, OUTPUT_TOPIC, POLICY, STATUS, CHANGED_AT)


def question(where: Filter, changed: str = CHANGED_AT) -> Document:
    """Return all of a filter but the beginning of a key, for which there are no words.

    ``changed`` is the field that says when a row was last changed.
    """
    terms: Document = {}
    if where.statuses is not None:
        terms[STATUS] = {"$in": [Status(status).value for status in where.statuses]}
    if where.output_topic is not None:
        terms[OUTPUT_TOPIC] = where.output_topic
    if where.source_topic is not None:
        terms[SOURCE_TOPIC] = where.source_topic
    if where.key is not None:
        terms[KEY] = where.key
    if where.kind is not None:
        terms[KIND] = where.kind.value
    if where.changed_from is not None:
        terms[changed] = {"$gte": where.changed_from}
    if where.repeating:
        terms[POLICY] = {"$exists": True, "$regex": REPEATS}
    if where.after is not None:
        terms["$and"] = _after(where.after, changed)
    if bounds := _bounds(where):
        terms[DUE] = bounds
    return terms


def looked_at(columns: Sequence[str]) -> Document:
    """Return which fields of a document are read, for some columns of its row."""
    return dict.fromkeys([*columns, *_ASKED], 1)


def _bounds(where: Filter) -> Document:
    bounds = {"$gte": where.due_from, "$lt": where.due_to}
    return {name: value for name, value in bounds.items() if value is not None}


def _after(cursor: Cursor, changed: str) -> list[Document]:
    """Return the terms for what lies after a place: the first value that differs decides."""
    past, reached = ("$lt", "$lte") if cursor.order.descends else ("$gt", "$gte")
    alternatives: list[Document] = []
    same: Document = {}
    for column, value in cursor.values.items():
        name = changed if column == CHANGED_AT else column
        alternatives.append(same | {name: {past: value}})
        same = same | {name: value}
    instant = changed if cursor.order.instant == CHANGED_AT else cursor.order.instant
    return [{instant: {reached: cursor.instant}}, {"$or": alternatives}]
