"""Reads what the last commit changes from its journal, whether it is carried out yet or not."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import bson

from state.mongo.documents import coordinates_in
from state.mongo.gather import by_id
from state.mongo.journal import Way, read_journal
from state.mongo.layout import SCHEDULES, VERSIONS, Db, Document
from state.mongo.meta import Meta
from state.row import STATUS

Changed = dict[str, dict[Any, Document]]  # collection, _id, the document after the last commit
SHOWN: Document = {STATUS: {"$exists": True}}


def is_shown(document: Document) -> bool:
    """Tell whether a document stands for a version."""
    return coordinates_in(document) is not None


def last_changes(db: Db, meta: Meta) -> Changed:
    """Return the documents that the last commit changes, as it leaves them."""
    changed: Changed = {SCHEDULES: {}, VERSIONS: {}}
    partly: defaultdict[str, dict[Any, tuple[Document, Sequence[str]]]] = defaultdict(dict)
    for chunk in read_journal(db, meta.token) if meta.token else ():
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
