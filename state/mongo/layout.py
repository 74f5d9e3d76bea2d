"""The collections of a state: names, indexes, validators, and how they are made."""

import contextlib
import uuid
from typing import Any

from pymongo import ASCENDING, IndexModel, timeout
from pymongo.database import Database
from pymongo.errors import CollectionInvalid, DuplicateKeyError

from state.copying import half_copied
from state.cursor import ORDER
from state.errors import StateError
from state.mongo.meta import COPY_ID, META_ID, Meta
from state.row import (
    DUE,
    IDENTITY,
    KEY,
    KIND,
    OUTPUT_TOPIC,
    POLICY,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    STATUS,
    Kind,
    Status,
)

Document = dict[str, Any]
Db = Database[Document]

SCHEDULES = "schedules"  # the newest version of each key; _id is the identity
VERSIONS = "versions"  # those that a newer one, or a later occurrence, displaced; _id names it
JOURNAL = "journal"  # what the last commit changes, so that it can be finished after a crash
META = "meta"  # one document: how far the state is; its change is the commit

LANE = "lane"  # hash modulo the number of lanes
SEQ = "seq"  # the commit that last changed the document
NEWEST = "newest"  # the newest command of the key, a cancel included
LAST_CLAIM = "last_claim"  # the batch that last claimed the row; stays when it is settled
CLAIMED_AT = "claimed_at"
CLOSED_AT = "closed_at"  # set on what may be purged one day

DUE_INDEX = "pending by lane and due"
PENDING_BY_KEY = "pending by key"
TOPIC_INDEX = "pending by topic and due"
POLICY_INDEX = "pending with a policy"
CLAIM_INDEX = "by claim"
ENDED_INDEX = "closed rows by status and age"
_CLOSED_INDEX = "closed rows by age"
KEY_INDEX = "by key"
_INDEXING = 3_600.0  # seconds

# In the order of release, so that a claim reads what it takes and nothing else; the last two let
# counts be drawn up without reading a document.
DUE_KEYS = [STATUS, LANE, *ORDER, OUTPUT_TOPIC, KIND]
# What people list: of one topic what goes out next, and what ended last.
_TOPIC_KEYS = [STATUS, KIND, OUTPUT_TOPIC, *ORDER]
_ENDED_KEYS = [STATUS, CLOSED_AT, *ORDER[1:], KIND, OUTPUT_TOPIC]


def create(db: Db) -> None:
    """Make what is not there yet; StateError where a copy is not finished."""
    refuse_half_copy(db)
    create_collections(db)
    with contextlib.suppress(DuplicateKeyError):  # made by somebody else between the two lines
        if db[META].find_one({"_id": META_ID}) is None:
            db[META].insert_one(Meta(state_id=str(uuid.uuid4())).to_document())


def create_collections(db: Db) -> None:
    """Make the collections and indexes that are not there yet."""
    there = set(db.list_collection_names())
    for name, validator in ((SCHEDULES, _schedule()), (VERSIONS, _version())):
        if name not in there:
            _create_collection(db, name, validator)
    by_key = [IndexModel([(IDENTITY, ASCENDING)]), _pending_by_key()]
    with timeout(_INDEXING):  # a new index on a large collection takes longer than other calls may
        db[SCHEDULES].create_indexes([*_pending_indexes(), *_common_indexes()])
        db[VERSIONS].create_indexes([*_pending_indexes(), *by_key, *_common_indexes()])
        db[JOURNAL].create_indexes([IndexModel([(SEQ, ASCENDING)])])


def refuse_half_copy(db: Db) -> None:
    """Raise StateError when the database holds a part of a copy and no state."""
    found = {d["_id"] for d in db[META].find({"_id": {"$in": [META_ID, COPY_ID]}}, {"_id": 1})}
    if found == {COPY_ID}:
        raise StateError(half_copied(f"the database {db.name}"))


def _create_collection(db: Db, name: str, validator: Document) -> None:
    with contextlib.suppress(CollectionInvalid):  # made by somebody else meanwhile
        db.create_collection(name, validator={"$jsonSchema": validator})


def _pending_indexes() -> list[IndexModel]:
    pending = {STATUS: Status.PENDING.value}
    with_policy = pending | {POLICY: {"$exists": True}}
    return [
        _index(DUE_INDEX, DUE_KEYS, pending),
        _index(TOPIC_INDEX, _TOPIC_KEYS, pending),
        _index(POLICY_INDEX, [STATUS, DUE], with_policy),
    ]


def _index(name: str, keys: list[str], only: Document) -> IndexModel:
    named = [(key, ASCENDING) for key in keys]
    return IndexModel(named, name=name, partialFilterExpression=only)


def _pending_by_key() -> IndexModel:
    return IndexModel(
        [(IDENTITY, ASCENDING)],
        name=PENDING_BY_KEY,
        partialFilterExpression={STATUS: Status.PENDING.value},
    )


def _common_indexes() -> list[IndexModel]:
    return [
        IndexModel([(LAST_CLAIM, ASCENDING)], name=CLAIM_INDEX, sparse=True),
        IndexModel([(CLOSED_AT, ASCENDING)], name=_CLOSED_INDEX, sparse=True),
        _index(ENDED_INDEX, _ENDED_KEYS, {CLOSED_AT: {"$exists": True}}),
        IndexModel([(KEY, ASCENDING)], name=KEY_INDEX, sparse=True),
    ]


def _schedule() -> Document:
    return {
        "bsonType": "object",
        "required": [SEQ, NEWEST],
        "properties": {"_id": {"bsonType": "binData"}, **_properties()},
    }


def _version() -> Document:
    return {
        "bsonType": "object",
        "required": [SEQ, IDENTITY, STATUS],
        "properties": {"_id": {"bsonType": "string"}, **_properties()},
    }


def _properties() -> Document:
    whole = {"bsonType": ["int", "long"]}
    return {
        SEQ: whole,
        DUE: whole,
        SOURCE_PARTITION: whole,
        SOURCE_OFFSET: whole,
        STATUS: {"enum": [status.value for status in Status]},
        KIND: {"enum": [kind.value for kind in Kind]},
    }
