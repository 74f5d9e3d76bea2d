"""Divides a question by status, so that each part of it follows an index from its first row on.

Pending rows have indexes in the order of release, closed ones an index in the order in which they
ended; which rows are claimed is told by the batches. A filter that names several statuses would
follow none of these.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

from state.inspector import Filter
from state.mongo.layout import (
    CLAIM_INDEX,
    CLOSED_AT,
    DUE_INDEX,
    ENDED_INDEX,
    KEY_INDEX,
    LANE,
    LAST_CLAIM,
    POLICY_INDEX,
    TOPIC_INDEX,
    Document,
)
from state.mongo.meta import Meta
from state.mongo.question import question
from state.row import CHANGED_AT, CLOSED, KIND, Kind, Status


class Way(NamedTuple):
    """A part of a question, the index that leads to its rows, and what they are ordered by."""

    terms: Document
    follows: str | None
    instant: str

    def hint(self, there: Collection[str]) -> Document:
        """Return the option that names the index, if the collection has it."""
        return {"hint": self.follows} if self.follows in there else {}


def ways(where: Filter, meta: Meta) -> list[Way]:
    """Return the parts of a question; a row is found by one of them at most."""
    if where.key is not None:
        return [Way(question(where), KEY_INDEX, where.order.instant)]
    statuses = frozenset(Status) if where.statuses is None else frozenset(where.statuses)
    found = []
    if Status.PENDING in statuses:
        found.append(_pending(replace(where, statuses=[Status.PENDING]), meta))
    if Status.CLAIMED in statuses:
        found.append(_claimed(replace(where, statuses=[Status.CLAIMED]), meta))
    if statuses & CLOSED:
        found.append(_closed(replace(where, statuses=statuses & CLOSED)))
    return found


def _pending(where: Filter, meta: Meta) -> Way:
    terms, instant = question(where), where.order.instant
    if where.repeating:
        return Way(terms, POLICY_INDEX, instant)
    if where.output_topic is not None:
        every = {"$in": [kind.value for kind in Kind]}
        return Way({KIND: every} | terms, TOPIC_INDEX, instant)
    # One interval for each lane: the server follows all of them at once, in order.
    lanes = {LANE: {"$in": list(range(meta.lanes))}} if meta.lanes else {}
    return Way(terms | lanes, DUE_INDEX, instant)


def _claimed(where: Filter, meta: Meta) -> Way:
    since = {LAST_CLAIM: {"$gte": meta.oldest_claim}}
    return Way(question(where) | since, CLAIM_INDEX, where.order.instant)


def _closed(where: Filter) -> Way:
    # A closed row was last changed when it was closed.
    terms = question(where, CLOSED_AT)
    terms.setdefault(CLOSED_AT, {"$gte": 0})
    instant = where.order.instant
    return Way(terms, ENDED_INDEX, CLOSED_AT if instant == CHANGED_AT else instant)
