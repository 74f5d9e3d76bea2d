"""Writes a state that is copied into MongoDB.

While it is written, ``meta`` holds a document that names the copy and says how far it is; the last
write is the document that makes it a state.
"""

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import partial

import pyarrow as pa
from pymongo import InsertOne, ReplaceOne, UpdateOne
from pymongo.errors import BulkWriteError, DocumentTooLarge

from state.copying import CLAIMED_AT, LAST_CLAIM, Heard, Part, Standing
from state.crashpoint import CopyPoint, reach
from state.errors import StateError
from state.lines import SEQ
from state.mongo.documents import (
    contents_of,
    coordinates_in,
    newest_in,
    version_id,
    version_in,
    without,
)
from state.mongo.gather import by_id
from state.mongo.layout import (
    CLOSED_AT,
    LANE,
    META,
    NEWEST,
    SCHEDULES,
    VERSIONS,
    Document,
    create_collections,
)
from state.mongo.meta import COPY_ID, META_ID, Meta
from state.mongo.reach import Reach
from state.mongo.transfer import by_status
from state.row import CHANGED_AT, HASH, IDENTITY, LIVE, STATUS, Status
from state.version import is_newer

Write = InsertOne[Document] | ReplaceOne[Document] | UpdateOne
_LANES = 2  # as a job has by default; another number divides the rows anew, which takes long
_SLICE = 5_000


class MongoTarget:
    """Puts each row where a commit would have left it: the newest of a key, or displaced."""

    part_rows = 5_000

    def __init__(self, at: Reach) -> None:
        self._reach = at
        self._db = at.first(lambda: at.db)
        self._copy: Document = {}
        self.place = f"the database {self._db.name} at {at.address}"

    def begin(self, standing: Standing) -> int:
        """Make the collections, or find those of the same copy."""
        found = self._reach.first(self._found)
        same = {"state_id": standing.state_id, "position": standing.position}
        goes_on = found is not None and all(found[name] == value for name, value in same.items())
        done = int(found["done"]) if found is not None and goes_on else -1
        self._copy = {"_id": COPY_ID, **same, "by": str(uuid.uuid4())}
        self._reach.surely(lambda: self._take(done))
        if done < 0:
            self._reach.surely(self._clear)
            done = 0
        self._reach.surely(lambda: create_collections(self._db))
        self._note(done)
        return done

    def write(self, part: Part) -> None:
        """Write rows, those that are displaced first."""
        self._reach.surely(lambda: self._place(part.rows))
        reach(CopyPoint.DURING_COPY)
        self._note(part.upto)

    def by_status(self) -> Counter[str]:
        """Count the rows written so far."""
        return self._reach.surely(lambda: by_status(self._db))

    def finish(self, standing: Standing, made: pa.Table, heard: Sequence[Heard], now: int) -> None:
        """Note the newest commands, then say that it is a state."""
        for first in range(0, len(heard), _SLICE):
            some = heard[first : first + _SLICE]
            self._reach.surely(partial(self._hear, some, standing.seq))
        meta = Meta(
            state_id=standing.state_id,
            seq=standing.seq,
            last_batch=standing.last_batch,
            lanes=_LANES,
            oldest_claim=standing.oldest_claim,
            taken=standing.taken,
            counts=standing.counts,
            paused=standing.paused,
        )
        self._reach.surely(lambda: self._become(meta))

    def close(self) -> None:
        """Let go of the connections."""
        self._reach.close()

    def _found(self) -> Document | None:
        meta = self._db[META].find_one({"_id": META_ID})
        if meta is not None:
            raise StateError(
                f"{self.place} holds a state already ({meta['state_id']}); to copy another there "
                "drop the database, or set another state.mongo.database"
            )
        found = self._db[META].find_one({"_id": COPY_ID})
        if found is None and any(self._db[name].find_one() for name in (SCHEDULES, VERSIONS)):
            raise StateError(
                f"{self.place} holds documents that are no state; set another state.mongo.database"
            )
        return found

    def _take(self, done: int) -> None:
        document = self._copy | {"done": done}
        self._db[META].replace_one({"_id": COPY_ID}, document, upsert=True)

    def _clear(self) -> None:
        for name in (SCHEDULES, VERSIONS):
            self._db.drop_collection(name)

    def _note(self, done: int) -> None:
        where = {"_id": COPY_ID, "by": self._copy["by"]}
        change = {"$set": {"done": done}}
        noted = self._reach.surely(lambda: self._db[META].update_one(where, change))
        if not noted.matched_count:
            raise StateError(f"another copy to {self.place} is under way; let it end, or stop it")

    def _place(self, rows: pa.Table) -> None:
        versions: defaultdict[bytes, list[Document]] = defaultdict(list)
        for identity, document in _documents(rows):
            versions[identity].append(document)
        there = {head["_id"]: head for head in by_id(self._db, SCHEDULES, versions)}
        for identity, head in there.items():
            versions[identity].insert(0, without(head, ("_id", NEWEST)))
        heads: list[Document] = []
        displaced: list[Write] = []
        for identity, of_key in versions.items():
            apart = list({coordinates_in(d): d for d in of_key}.values())
            first = _head(apart)
            if first is not None:
                heads.append({"_id": identity, NEWEST: list(version_in(first))} | first)
            displaced += [_displaced(identity, d) for d in apart if d is not first]
        self._send(VERSIONS, displaced)
        self._send(SCHEDULES, [_put(d) for d in heads if d["_id"] in there])
        new = [d for d in heads if d["_id"] not in there]
        try:
            self._send(SCHEDULES, [InsertOne(d) for d in new])  # several times as quick
        except BulkWriteError:  # some were written by a first try whose answer was lost
            self._send(SCHEDULES, [_put(d) for d in new])

    def _hear(self, heard: Sequence[Heard], seq: int) -> None:
        named = by_id(self._db, SCHEDULES, [h.identity for h in heard], {NEWEST: 1})
        known = {document["_id"]: newest_in(document) for document in named}
        writes: list[Write] = []
        for identity, version, at in heard:
            newest: Document = {NEWEST: list(version)}
            if identity not in known:  # nothing is left of the key but its cancel
                newest |= {CLOSED_AT: at, SEQ: seq}
            if known.get(identity) != version:
                writes.append(UpdateOne({"_id": identity}, {"$set": newest}, upsert=True))
        self._send(SCHEDULES, writes)

    def _send(self, name: str, writes: Sequence[Write]) -> None:
        if not writes:
            return
        try:
            self._db[name].bulk_write(writes, ordered=False)
        except DocumentTooLarge as error:
            raise StateError(
                "a row of the source is larger than a document of MongoDB may be (16 MiB); have "
                "its message published or cancelled, then copy again"
            ) from error

    def _become(self, meta: Meta) -> None:
        same = {"_id": META_ID, "state_id": meta.state_id}
        self._db[META].replace_one(same, meta.to_document(), upsert=True)
        self._db[META].delete_one({"_id": COPY_ID})


def _documents(rows: pa.Table) -> Iterator[tuple[bytes, Document]]:
    """Yield identity and document of each row, with all a document has but its name."""
    numbers = [rows.column(name).to_pylist() for name in (SEQ, LAST_CLAIM, CLAIMED_AT)]
    identities = rows.column(IDENTITY).to_pylist()
    for identity, document, *said in zip(identities, contents_of(rows), *numbers, strict=True):
        more = dict(zip((SEQ, LAST_CLAIM, CLAIMED_AT), said, strict=True))
        document |= {name: value for name, value in more.items() if value is not None}
        if document[STATUS] in LIVE:
            document[LANE] = document[HASH] % _LANES
        else:
            document[CLOSED_AT] = document[CHANGED_AT]
        yield identity, document


def _head(versions: Sequence[Document]) -> Document | None:
    """Return the version that is kept in ``schedules``: the last occurrence of the newest.

    What was replaced is none: a newer one came, or it was turned away and never counted.
    """
    head: Document | None = None
    for document in versions:
        if document[STATUS] == Status.REPLACED:
            continue
        version, other = version_in(document), None if head is None else version_in(head)
        is_later = other is not None and version.record == other.record and version > other
        if is_later or is_newer(version, other):
            head = document
    return head


def _displaced(identity: bytes, document: Document) -> Write:
    coordinates = coordinates_in(document)
    assert coordinates is not None  # noqa: S101
    named: Document = {"_id": version_id(coordinates), IDENTITY: identity}
    return _put(named | document)


def _put(document: Document) -> Write:
    return ReplaceOne({"_id": document["_id"]}, document, upsert=True)
