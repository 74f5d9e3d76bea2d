"""Finds keys by how they begin, where few do.

The server orders bytes by their length first, so what begins alike is one range for each length.
Where many keys begin alike, those that come first in a list are soon met in its own order.
"""

from collections.abc import Callable

from pymongo.collection import Collection

from state.mongo.layout import KEY_INDEX, Document
from state.mongo.ways import Way
from state.row import KEY

_FEW = 2_000  # documents that are fetched and sorted
_MOST_RANGES = 200

Narrow = Callable[[Way], Way]


def few_of(documents: Collection[Document], prefix: bytes) -> Narrow | None:
    """Return how to narrow a question to the keys that begin so; None where they are many."""
    at_least = {KEY: {"$gte": b""}}
    longest = documents.find_one(at_least, {KEY: 1}, sort=[(KEY, -1)], hint=KEY_INDEX)
    ranges = _ranges(prefix, 0 if longest is None else len(longest[KEY]))
    if len(ranges) > _MOST_RANGES:
        return None
    if ranges and documents.count_documents({"$or": ranges}, limit=_FEW) >= _FEW:
        return None
    either = {"$or": ranges or [{KEY: prefix}]}
    return lambda way: way._replace(terms=_both(way.terms, either), follows=KEY_INDEX)


def _ranges(prefix: bytes, longest: int) -> list[Document]:
    return [
        {KEY: {"$gte": prefix + b"\0" * more, "$lte": prefix + b"\xff" * more}}
        for more in range(longest - len(prefix) + 1)
    ]


def _both(terms: Document, either: Document) -> Document:
    return terms | {"$and": [*terms.get("$and", []), either]}
