"""Answers questions about a state in MongoDB, beside the job that writes it.

What the last commit changes is taken from its journal, everything else from the collections. So an
answer is that of one commit, also while the commit is being carried out, unless another one comes
in between: then the question is asked again.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

import pyarrow as pa
from pymongo import ASCENDING

from state.cursor import ORDER
from state.inspector import Filter, Inspector, Moment, Stats, no_earlier
from state.mongo.counting import live_rows, stats_of_live
from state.mongo.documents import rows_of
from state.mongo.gather import read_meta
from state.mongo.last_commit import SHOWN, Changed, is_shown, last_changes
from state.mongo.layout import SCHEDULES, VERSIONS, Document
from state.mongo.meta import Meta
from state.mongo.question import looked_at, of_key, question, worded
from state.mongo.reach import Reach
from state.mongo.tallying import tally_of
from state.row import DUE, KEY
from state.select import by_version, expression, first, key_is
from state.tally import Tally

_TRIES = 5  # a question that takes longer than a tick is answered as of the time it was asked
_SORT = [(name, ASCENDING) for name in ORDER]
_PART = 10_000
T = TypeVar("T")


class MongoInspector:
    """Asks the database afresh for each question."""

    keeps_earlier = False

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._db = reach.first(lambda: reach.db)
        reach.first(lambda: read_meta(self._db, reach.address))

    def rows(self, where: Filter) -> pa.Table:
        """Return the rows that match, ordered by due."""

        def ask(meta: Meta, changed: Changed) -> pa.Table:
            found = self._find(question(where, meta), changed, where.limit, where.key_prefix)
            return first(rows_of(found).filter(expression(where)), where.limit)

        return self._ask(ask)

    def scan(self, where: Filter, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield some columns of the rows that match, a part at a time.

        While a job commits, rows read late show what later commits made of them.
        """
        meta, changed = self._reach.first(self._last_commit)
        wanted, fields = expression(where), looked_at(columns)
        for name in (SCHEDULES, VERSIONS):
            apart = changed[name]
            standing = self._db[name].find(SHOWN | worded(name, question(where, meta)), fields)
            mine = (document for document in standing if document["_id"] not in apart)
            yield rows_of(list(filter(is_shown, apart.values()))).filter(wanted).select(columns)
            while documents := self._reach.first(lambda mine=mine: list(islice(mine, _PART))):  # type: ignore[misc]
                yield rows_of(documents).filter(wanted).select(columns)

    def tally(
        self, where: Filter, by: Sequence[str], every: int | None = None, of: str = DUE
    ) -> pa.Table:
        """Count the rows that match, in the database."""
        if where.key_prefix:  # no expression of the database tells how bytes begin
            counted = Tally(by, every, of)
            for part in self.scan(where, counted.columns):
                counted.add(part)
            return counted.table()
        return self._ask(
            lambda meta, changed: tally_of(self._db, meta, changed, where, by, every, of)
        )

    def versions(self, key: bytes, source_topic: str | None = None) -> pa.Table:
        """Return every version of a key that is still known, oldest first."""

        def ask(meta: Meta, changed: Changed) -> pa.Table:
            found = self._find(of_key(key, meta), changed, None)
            return by_version(rows_of(found).filter(key_is(key, source_topic)))

        return self._ask(ask)

    def stats(self, now: int) -> Stats:
        """Count; live rows as they stand, the others as they ended."""

        def ask(meta: Meta, changed: Changed) -> Stats:
            return stats_of_live(meta, live_rows(self._db, meta, changed), now)

        return self._ask(ask)

    def moment(self) -> Moment:
        """Name no commit: it keeps its number here, not its time."""
        return Moment(None)

    def as_of(self, instant: int) -> Inspector:
        """There are no earlier states here."""
        raise no_earlier("mongo")

    def _last_commit(self) -> tuple[Meta, Changed]:
        meta = read_meta(self._db, self._reach.address)
        return meta, last_changes(self._db, meta)

    def _ask(self, ask: Callable[[Meta, Changed], T]) -> T:
        return self._reach.first(lambda: self._steadily(ask))

    def _steadily(self, ask: Callable[[Meta, Changed], T]) -> T:
        for _ in range(_TRIES):
            meta, changed = self._last_commit()
            answer = ask(meta, changed)
            if read_meta(self._db, self._reach.address).seq == meta.seq:
                break
        return answer

    def _find(
        self, where: Document, changed: Changed, limit: int | None, prefix: bytes | None = None
    ) -> list[Document]:
        found: list[Document] = []
        for name in (SCHEDULES, VERSIONS):
            apart = changed[name]
            standing = self._db[name].find(SHOWN | worded(name, where))
            if limit is not None:
                standing = standing.sort(_SORT)
                # How bytes begin is seen here only: all are asked for, and no more read than needed
                standing = standing if prefix else standing.limit(limit + len(apart))
            mine = (d for d in standing if d["_id"] not in apart and _begins(d, prefix))
            found += islice(mine, limit)
            found += [document for document in apart.values() if is_shown(document)]
        return found


def _begins(document: Document, prefix: bytes | None) -> bool:
    return not prefix or (document.get(KEY) or b"").startswith(prefix)
