"""Reads what the last commit changes from its journal, whether it is carried out yet or not."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import bson
import pyarrow as pa

from state.mongo.documents import coordinates_in, rows_of, slices
from state.mongo.gather import by_id
from state.mongo.journal import Chunk, Way, read_journal
from state.mongo.layout import SCHEDULES, SEQ, VERSIONS, Db, Document
from state.mongo.meta import Meta
from state.row import STATUS

Changed = dict[str, dict[Any, Document]]  # collection, _id, the document after the last commit
SHOWN: Document = {STATUS: {"$exists": True}}


class LastCommit(NamedTuple):
    """How far the state is, and what its last commit changes."""

    meta: Meta
    changed: Changed
    rows: pa.Table  # the versions among them, as rows

    @property
    def is_carried_out(self) -> bool:
        """Whether the collections are as the commit leaves them."""
        return not any(self.changed.values())


def is_shown(document: Document) -> bool:
    """Tell whether a document stands for a version."""
    return coordinates_in(document) is not None


def last_commit(db: Db, meta: Meta, known: LastCommit | None = None) -> LastCommit:
    """Return what the last commit changes and is not carried out yet; often that is nothing."""
    if known is not None and known.meta.token == meta.token and known.is_carried_out:
        return known._replace(meta=meta)
    chunks = read_journal(db, meta.token) if meta.token else []
    if _are_carried_out(db, chunks, meta.seq):
        return LastCommit(meta, {SCHEDULES: {}, VERSIONS: {}}, rows_of([]))
    changed = _changes(db, chunks)
    shown = [d for documents in changed.values() for d in documents.values() if is_shown(d)]
    return LastCommit(meta, changed, rows_of(shown))


def _are_carried_out(db: Db, chunks: Sequence[Chunk], seq: int) -> bool:
    """Tell whether every document that is to be changed bears the number of the commit."""
    for chunk in chunks:
        for ids in slices(item["_id"] for item in chunk.items):
            named = {"_id": {"$in": ids}, SEQ: seq}
            if db[chunk.collection].count_documents(named) < len(ids):
                return False
    return True


def _changes(db: Db, chunks: Sequence[Chunk]) -> Changed:
    """Return the documents that a commit changes, as it leaves them."""
    changed: Changed = {SCHEDULES: {}, VERSIONS: {}}
    partly: defaultdict[str, dict[Any, tuple[Document, Sequence[str]]]] = defaultdict(dict)
    for chunk in chunks:
        for raw in chunk.items:
            item = bson.decode(raw.raw)
            if chunk.way is Way.CHANGE:
                partly[chunk.collection][item["_id"]] = item["set"], chunk.gone
            else:
                changed[chunk.collection][item["_id"]] = item
    for name, changes in partly.items():
        for document in by_id(db, name, changes):
            values, gone = changes[document["_id"]]
            kept = {n: v for n, v in document.items() if n not in gone}
            changed[name][document["_id"]] = kept | values
    return changed
