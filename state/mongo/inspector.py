"""Answers questions about a state in MongoDB, beside the job that writes it.

What the last commit changes is taken from its journal, everything else from the collections. So an
answer is that of one commit, also while the commit is being carried out, unless another one comes
in between: then the question is asked again.
"""

from collections.abc import Callable
from typing import TypeVar

import pyarrow as pa
from pymongo import ASCENDING

from state.inspect import Filter, Stats
from state.mongo.counting import live_rows, stats_of_live
from state.mongo.documents import rows_of
from state.mongo.gather import read_meta
from state.mongo.last_commit import SHOWN, Changed, is_shown, last_changes
from state.mongo.layout import SCHEDULES, VERSIONS, Document
from state.mongo.meta import Meta
from state.mongo.reach import Reach
from state.row import DUE, IDENTITY, KEY, KIND, OUTPUT_TOPIC, STATUS, Kind, Status
from state.select import ORDER, by_version, expression, first, key_is

_TRIES = 5  # a question that takes longer than a tick is answered as of the time it was asked
_SORT = [(name, ASCENDING) for name in ORDER]
T = TypeVar("T")


class MongoInspector:
    """Asks the database afresh for each question."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._db = reach.first(lambda: reach.db)
        reach.first(lambda: read_meta(self._db, reach.address))

    def rows(self, where: Filter) -> pa.Table:
        """Return the rows that match, ordered by due."""

        def ask(meta: Meta, changed: Changed) -> pa.Table:
            found = self._find(_query(where, meta), changed, where.limit)
            return first(rows_of(found).filter(expression(where)), where.limit)

        return self._ask(ask)

    def versions(self, key: bytes, source_topic: str | None = None) -> pa.Table:
        """Return every version of a key that is still known, oldest first."""

        def ask(meta: Meta, changed: Changed) -> pa.Table:
            found = self._find(_of_key(key, meta), changed, None)
            return by_version(rows_of(found).filter(key_is(key, source_topic)))

        return self._ask(ask)

    def stats(self, now: int) -> Stats:
        """Count; live rows as they stand, the others as they ended."""

        def ask(meta: Meta, changed: Changed) -> Stats:
            return stats_of_live(meta, live_rows(self._db, meta, changed), now)

        return self._ask(ask)

    def _ask(self, question: Callable[[Meta, Changed], T]) -> T:
        return self._reach.first(lambda: self._steadily(question))

    def _steadily(self, question: Callable[[Meta, Changed], T]) -> T:
        for _ in range(_TRIES):
            meta = read_meta(self._db, self._reach.address)
            answer = question(meta, last_changes(self._db, meta))
            if read_meta(self._db, self._reach.address).seq == meta.seq:
                break
        return answer

    def _find(self, where: Document, changed: Changed, limit: int | None) -> list[Document]:
        found: list[Document] = []
        for name in (SCHEDULES, VERSIONS):
            apart = changed[name]
            standing = self._db[name].find(SHOWN | _of(name, where))
            if limit is not None:
                standing = standing.sort(_SORT).limit(limit + len(apart))
            found += [document for document in standing if document["_id"] not in apart]
            found += [document for document in apart.values() if is_shown(document)]
        return found


def _query(where: Filter, meta: Meta) -> Document:
    terms: Document = {}
    if where.statuses is not None:
        terms[STATUS] = {"$in": [Status(status).value for status in where.statuses]}
    if where.output_topic is not None:
        terms[OUTPUT_TOPIC] = where.output_topic
    if where.kind is not None:
        terms[KIND] = where.kind.value
    due = {"$gte": where.due_from, "$lt": where.due_to}
    bounds = {name: value for name, value in due.items() if value is not None}
    if bounds:
        terms[DUE] = bounds
    return terms | ({} if where.key is None else _of_key(where.key, meta))


def _of_key(key: bytes, meta: Meta) -> Document:
    identities = [topic.encode() + b"\0" + key for topic in meta.taken]
    about = [{KIND: kind.value, KEY: key} for kind in (Kind.REJECTION, Kind.COMMAND)]
    return {"$or": [{IDENTITY: {"$in": identities}}, *about]}


def _of(name: str, where: Document) -> Document:
    """Return a question in the words of a collection: the _id of a schedule is its identity."""
    if name == VERSIONS or "$or" not in where:
        return where
    named, *about = where["$or"]
    return where | {"$or": [{"_id": named[IDENTITY]}, *about]}
