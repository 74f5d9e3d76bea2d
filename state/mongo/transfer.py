"""Reads a state out of MongoDB, to be copied."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import pyarrow as pa
from pymongo import ASCENDING, DESCENDING
from pymongo.errors import PyMongoError

from state.columns import reshape
from state.copying import CLAIMED_AT as CLAIMED_AT_COLUMN
from state.copying import COPIED, PART_BYTES, Heard, Part, Standing
from state.copying import LAST_CLAIM as LAST_CLAIM_COLUMN
from state.lines import SEQ as SEQ_COLUMN
from state.mongo.documents import newest_in, rows_of
from state.mongo.gather import claims_made, read_meta, recall
from state.mongo.journal import read_journal
from state.mongo.last_commit import SHOWN, is_shown
from state.mongo.layout import (
    CLAIMED_AT,
    CLOSED_AT,
    LAST_CLAIM,
    NEWEST,
    SCHEDULES,
    SEQ,
    VERSIONS,
    Db,
    Document,
)
from state.mongo.meta import Meta
from state.mongo.reach import Reach
from state.mongo.sending import carry_out
from state.row import KIND, PAYLOAD, STATUS, Kind

_REMEMBERED = 100_000  # commands of closed keys; a store in Delta tables forgets them sooner
_FETCH = 1_000
_NUMBERS = {SEQ_COLUMN: SEQ, LAST_CLAIM_COLUMN: LAST_CLAIM, CLAIMED_AT_COLUMN: CLAIMED_AT}
T = TypeVar("T")


class MongoSource:
    """Reads both collections in the order of their _id, once the last commit is carried out."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._db = reach.first(lambda: reach.db)
        self.place = f"the database {self._db.name} at {reach.address}"
        self._meta = self._ask(self._finished)
        self._sizes = self._ask(lambda: sizes(self._db))

    def standing(self) -> Standing:
        """Return all but the rows."""
        meta, there = self._ask(self._read), self._ask(lambda: sizes(self._db))
        return Standing(
            state_id=meta.state_id,
            position=f"commit {meta.seq} {meta.token}, documents: {there}",
            seq=meta.seq,
            last_batch=meta.last_batch,
            oldest_claim=meta.oldest_claim,
            changed_at=None,
            taken=meta.taken,
            counts=meta.counts,
            paused=meta.paused,
        )

    def total(self) -> int:
        """Return how many documents there are."""
        return sum(self._sizes.values())

    def parts(self, start: int, most: int) -> Iterator[Part]:
        """Read ``schedules``, then ``versions``."""
        at = 0
        for name, size in self._sizes.items():
            if at + size > start:
                yield from self._of_collection(name, at, max(0, start - at), most)
            at += size

    def made(self) -> pa.Table:
        """Return the claims of the last batch as they were made."""
        return self._ask(lambda: claims_made(self._db, self._meta.last_batch))

    def heard(self) -> Sequence[Heard]:
        """Return the newest commands of keys with a claim, and of those that were closed last."""
        return self._ask(lambda: [*{h.identity: h for h in self._commands()}.values()])

    def by_status(self) -> Counter[str]:
        """Count the rows."""
        return self._ask(lambda: by_status(self._db))

    def close(self) -> None:
        """Let go of the connections."""
        self._reach.close()

    def _of_collection(self, name: str, at: int, skip: int, most: int) -> Iterator[Part]:
        held: list[Document] = []
        size, done = 0, at + skip
        for document in self._documents(name, skip):
            held.append(document)
            size += len(document.get(PAYLOAD, b"")) + 500
            done += 1
            if len(held) >= most or size >= PART_BYTES:
                yield Part(_rows(held), done)
                held, size = [], 0
        if held:
            yield Part(_rows(held), done)

    def _documents(self, name: str, skip: int) -> Iterator[Document]:
        try:
            yield from self._db[name].find(
                {}, sort=[("_id", ASCENDING)], skip=skip, batch_size=_FETCH
            )
        except PyMongoError as error:
            raise self._reach.told(error) from error

    def _commands(self) -> Iterator[Heard]:
        others = [kind.value for kind in Kind if kind is not Kind.MESSAGE]
        where = {CLOSED_AT: {"$exists": True}, KIND: {"$nin": others}}
        fields = {NEWEST: 1, CLOSED_AT: 1}
        closed = self._db[SCHEDULES].find(
            where, fields, sort=[(CLOSED_AT, DESCENDING)], limit=_REMEMBERED, batch_size=_FETCH
        )
        for document in closed:
            yield Heard(document["_id"], newest_in(document), document[CLOSED_AT])
        outstanding = recall(self._db, self._meta).outstanding
        for coordinates in outstanding:
            claim = outstanding.get(coordinates)
            newest = claim and outstanding.newest(claim.identity)
            if claim is not None and newest is not None:
                yield Heard(claim.identity, newest, newest.timestamp)

    def _finished(self) -> Meta:
        meta = self._read()
        if meta.token:
            carry_out(self._db, read_journal(self._db, meta.token))
        return meta

    def _read(self) -> Meta:
        return read_meta(self._db, self._reach.address)

    def _ask(self, question: Callable[[], T]) -> T:
        return self._reach.first(question)


def by_status(db: Db) -> Counter[str]:
    """Count the rows of both collections."""
    counted: Counter[str] = Counter()
    steps: list[Document] = [
        {"$match": SHOWN},
        {"$group": {"_id": f"${STATUS}", "count": {"$sum": 1}}},
    ]
    for name in (SCHEDULES, VERSIONS):
        for found in db[name].aggregate(steps):
            counted[found["_id"]] += found["count"]
    return counted


def sizes(db: Db) -> dict[str, int]:
    """Return how many documents each collection has."""
    return {name: db[name].count_documents({}) for name in (SCHEDULES, VERSIONS)}


def _rows(documents: list[Document]) -> pa.Table:
    shown = [document for document in documents if is_shown(document)]
    numbers = {
        column: pa.array([d.get(field) for d in shown], pa.int64())
        for column, field in _NUMBERS.items()
    }
    return reshape(rows_of(shown), COPIED, numbers)
