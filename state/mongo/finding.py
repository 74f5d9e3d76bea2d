"""Finds documents in both collections, as they stand after the last commit."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import pyarrow as pa
from pymongo import ASCENDING, DESCENDING
from pymongo.cursor import Cursor

from state.inspector import Filter
from state.mongo.documents import rows_of
from state.mongo.key_ranges import Narrow, few_of
from state.mongo.last_commit import SHOWN, LastCommit
from state.mongo.layout import KEY_INDEX, SCHEDULES, VERSIONS, Db, Document
from state.mongo.question import looked_at
from state.mongo.ways import Way, ways
from state.row import KEY
from state.select import expression

_PART = 10_000
_MORE = 10  # asked for beside those wanted: some may be told anew by the last commit


@dataclass(frozen=True, slots=True)
class Finder:
    """Looks into a database as of one commit; ``indexes`` are those it has."""

    db: Db
    last: LastCommit
    indexes: Collection[str]

    def find(self, where: Filter, columns: Sequence[str] | None) -> pa.Table:
        """Return the rows that match, in no order; with a limit at least those first in order."""
        found: list[Document] = []
        for name in (SCHEDULES, VERSIONS):
            few = self._few(name, where)
            for way in ways(where, self.last.meta):
                with self._standing(name, way if few is None else few(way), columns) as standing:
                    found += self._first(name, self._ordered(standing, name, way, where), where)
        return pa.concat_tables([rows_of(found), self.last.rows]).filter(expression(where))

    def parts(self, where: Filter, columns: Sequence[str]) -> Iterator[list[Document]]:
        """Yield the documents that match, but for those of the last commit, some at a time."""
        for name in (SCHEDULES, VERSIONS):
            for way in ways(where, self.last.meta):
                standing = self._standing(name, way, columns)
                mine = (d for d in standing if d["_id"] not in self.last.changed[name])
                while documents := list(islice(mine, _PART)):
                    yield documents

    def _few(self, name: str, where: Filter) -> Narrow | None:
        if not where.key_prefix or KEY_INDEX not in self.indexes:
            return None
        return few_of(self.db[name], where.key_prefix)

    def _standing(self, name: str, way: Way, columns: Sequence[str] | None) -> Cursor[Document]:
        fields = None if columns is None else looked_at(columns)
        terms = SHOWN | way.terms
        return self.db[name].find(terms, fields, **way.hint(self.indexes))

    def _ordered(
        self, standing: Cursor[Document], name: str, way: Way, where: Filter
    ) -> Cursor[Document]:
        if where.limit is None:
            return standing
        ordered = standing.sort(_sort(where, way)).batch_size(where.limit + _MORE)
        # How bytes begin is seen here only: all are asked for, and no more read than needed.
        most = where.limit + len(self.last.changed[name])
        return ordered if where.key_prefix else ordered.limit(most)

    def _first(self, name: str, standing: Cursor[Document], where: Filter) -> list[Document]:
        apart, prefix = self.last.changed[name], where.key_prefix
        mine = (d for d in standing if d["_id"] not in apart and _begins(d, prefix))
        return list(islice(mine, where.limit))


def _sort(where: Filter, way: Way) -> list[tuple[str, int]]:
    direction = DESCENDING if where.order.descends else ASCENDING
    return [(name, direction) for name in (way.instant, *where.order.columns[1:])]


def _begins(document: Document, prefix: bytes | None) -> bool:
    return not prefix or (document.get(KEY) or b"").startswith(prefix)
