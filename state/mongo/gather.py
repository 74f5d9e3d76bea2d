"""Gathers what a store keeps in mind, and what a commit needs to know, from the database."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from state.admission import HighMarks, coordinates_of
from state.columns import reshape
from state.errors import StateError
from state.mongo.ahead import Ahead
from state.mongo.documents import (
    identity_in,
    newest_in,
    rows_of,
    slices,
    version_id,
    version_in,
)
from state.mongo.due import any_pending
from state.mongo.layout import (
    CLAIMED_AT,
    LAST_CLAIM,
    META,
    NEWEST,
    PENDING_BY_KEY,
    SCHEDULES,
    VERSIONS,
    Db,
    Document,
    refuse_half_copy,
)
from state.mongo.meta import META_ID, Meta
from state.mongo.outstanding import Outstanding
from state.mongo.scene import Scene
from state.pending import CONTENT, PENDING
from state.row import (
    BATCH,
    CHANGED_AT,
    CLAIM,
    HEADERS,
    IDENTITY,
    KEPT,
    OUTCOME_FIELDS,
    PAYLOAD,
    ROW,
    STATUS,
    Status,
)
from state.select import by_due

_UNDECIDED = {f.name: None for f in OUTCOME_FIELDS if f.name not in KEPT}


@dataclass(slots=True)
class Mind:
    """What the store knows without asking."""

    meta: Meta
    taken: HighMarks
    outstanding: Outstanding
    ahead: Ahead = field(default_factory=Ahead)
    least: int | None = None  # at or before the least due of all pending rows
    sure: bool = False  # whether ``least`` holds
    beside: bool = False  # whether ``versions`` has pending rows
    releasing: bool = True  # rows may be parked that are not paused any more
    made: pa.Table | None = None  # the claims of the last batch, as they were made


def read_meta(db: Db, address: str) -> Meta:
    """Return how far the state is; StateError when there is none."""
    found = db[META].find_one({"_id": META_ID})
    if found is None:
        refuse_half_copy(db)
        raise StateError(
            f"no state in the database {db.name} at {address} yet; start the job with "
            "`duestream run`, or make it with `duestream state init`"
        )
    return Meta.from_document(found)


def recall(db: Db, meta: Meta) -> Mind:
    """Gather everything anew, as a job does when it starts."""
    outstanding = Outstanding()
    light = {PAYLOAD: 0, HEADERS: 0}
    claimed = {LAST_CLAIM: {"$gte": meta.oldest_claim}, STATUS: Status.CLAIMED.value}
    for document in db[SCHEDULES].find(claimed, light):
        outstanding.add(document, newest_in(document))
    displaced = list(db[VERSIONS].find(claimed, light))
    newest = {
        d["_id"]: newest_in(d)
        for d in by_id(db, SCHEDULES, [identity_in(d) for d in displaced], {NEWEST: 1})
    }
    for document in displaced:
        own = version_in(document)
        outstanding.add(document, newest.get(identity_in(document), own), VERSIONS)
    return Mind(meta, HighMarks(meta.taken), outstanding, beside=any_pending(db, VERSIONS))


def gather(
    db: Db, scene: Scene, commands: pa.Table, outcomes: pa.Table, *, whole: bool, beside: bool
) -> None:
    """Bring into a scene what its commands and outcomes are about.

    With ``whole`` also the content of rows that are put back, so that they can be claimed again;
    with ``beside`` also what is pending in ``versions``.
    """
    brought = set(commands.column(IDENTITY).to_pylist())
    for document in by_id(db, SCHEDULES, brought):
        scene.bring(document, SCHEDULES)
    for document in _pending_beside(db, brought) if beside else ():
        scene.bring(document, VERSIONS)
    identities = outcomes.column(IDENTITY).to_pylist()
    named = list(zip(identities, coordinates_of(outcomes), strict=True))
    back = [s == Status.PENDING and whole for s in outcomes.column(STATUS).to_pylist()]
    asked = [
        (identity, coordinates)
        for (identity, coordinates), content in zip(named, back, strict=True)
        if content or not scene.knows(identity, coordinates)
    ]
    for document in by_id(db, SCHEDULES, {i for i, _ in asked} - brought):
        scene.bring(document, SCHEDULES)
    elsewhere = [version_id(c) for i, c in asked if not scene.has_document(c)]
    for document in by_id(db, VERSIONS, elsewhere):
        scene.bring(document, VERSIONS)


def pending_rows(db: Db, identities: Collection[bytes], whole: bool, beside: bool) -> pa.Table:
    """Return the pending versions of keys; with ``beside`` look in ``versions`` too."""
    fields = None if whole else dict.fromkeys(CONTENT, 0)
    found = [d for d in by_id(db, SCHEDULES, identities, fields) if d.get(STATUS) == PENDING]
    if beside:
        found += _pending_beside(db, identities, fields)
    return rows_of(found)


def _pending_beside(
    db: Db, identities: Iterable[bytes], fields: Document | None = None
) -> Iterator[Document]:
    for some in slices(identities):
        where = {STATUS: Status.PENDING.value, IDENTITY: {"$in": some}}
        yield from db[VERSIONS].find(where, fields, batch_size=len(some), hint=PENDING_BY_KEY)


def by_id(
    db: Db, collection: str, ids: Iterable[object], fields: Document | None = None
) -> Iterator[Document]:
    """Yield the documents that bear one of the names."""
    for some in slices(ids):
        yield from db[collection].find({"_id": {"$in": some}}, fields, batch_size=len(some))


def claimed_rows(db: Db, where: Document) -> pa.Table:
    """Return the claimed rows that match, ordered by due."""
    where = where | {STATUS: Status.CLAIMED.value}
    return by_due(rows_of(_in_both(db, where)))


def claims_made(db: Db, batch: int) -> pa.Table:
    """Return the rows that ``batch`` claimed last, as when it claimed them."""
    documents = _in_both(db, {LAST_CLAIM: batch})
    claimed_at = pa.array([d[CLAIMED_AT] for d in documents], pa.int64())
    values = _UNDECIDED | {STATUS: Status.CLAIMED.value, CLAIM: batch, BATCH: batch}
    return by_due(reshape(rows_of(documents), ROW, values | {CHANGED_AT: claimed_at}))


def _in_both(db: Db, where: Document) -> Sequence[Document]:
    return [*db[SCHEDULES].find(where), *db[VERSIONS].find(where)]
