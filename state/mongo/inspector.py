"""Answers questions about a state in MongoDB, beside the job that writes it.

What the last commit changes is taken from its journal, everything else from the collections. So an
answer is that of one commit, also while the commit is being carried out, unless another one comes
in between: then the question is asked again.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TypeVar

import pyarrow as pa

from state.inspector import Filter, Inspector, Moment, Stats, Waiting, no_earlier
from state.ledger import stats_of_live
from state.mongo.counting import live_rows
from state.mongo.documents import rows_of
from state.mongo.finding import Finder
from state.mongo.gather import read_meta
from state.mongo.last_commit import LastCommit, last_commit
from state.mongo.layout import SCHEDULES
from state.mongo.reach import Reach
from state.mongo.tallying import tally_of
from state.row import DUE, ROW
from state.select import by_version, expression, first
from state.tally import Tally
from state.waiting import waiting_by

_TRIES = 5  # a question that takes longer than a tick is answered as of the time it was asked
T = TypeVar("T")


class MongoInspector:
    """Asks the database afresh for each question, from any thread."""

    keeps_earlier = False

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._db = reach.first(lambda: reach.db)
        self._last: LastCommit | None = None
        reach.first(lambda: read_meta(self._db, reach.address))

    def rows(self, where: Filter, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the rows that match, in the order asked for."""

        def ask(last: LastCommit) -> pa.Table:
            found = self._finder(last).find(where, columns)
            return first(found, where).select(columns or ROW.names)

        return self._ask(ask)

    def scan(self, where: Filter, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield some columns of the rows that match, a part at a time.

        While a job commits, rows read late show what later commits made of them.
        """
        last, wanted = self._reach.first(self._last_commit), expression(where)
        yield last.rows.filter(wanted).select(columns)
        found = self._reach.first(lambda: self._finder(last)).parts(where, columns)
        while documents := self._reach.first(lambda: next(found, None)):
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
        return self._ask(lambda last: tally_of(self._db, last, where, by, every, of, self._indexes))

    def versions(
        self, key: bytes, source_topic: str | None = None, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Return every version of a key that is still known, oldest first."""
        where = Filter(key=key, source_topic=source_topic, kind=None)
        return by_version(self.rows(where)).select(columns or ROW.names)

    def stats(self, now: int) -> Stats:
        """Count; live rows as they stand, the others as they ended."""

        def ask(last: LastCommit) -> Stats:
            meta, live = last.meta, live_rows(self._db, last.meta, last.changed)
            return stats_of_live(meta.counts, live, meta.last_batch, now, meta.paused)

        return self._ask(ask)

    def waiting(self) -> list[Waiting]:
        """Count the pending messages of each output topic."""
        return waiting_by(self.tally)

    def moment(self) -> Moment:
        """Name no commit: it keeps its number here, not its time."""
        return Moment(None)

    def as_of(self, instant: int) -> Inspector:
        """There are no earlier states here."""
        raise no_earlier("mongo")

    @cached_property
    def _indexes(self) -> frozenset[str]:
        """The indexes there are; a state that an older version made has not all of them."""
        return frozenset(self._db[SCHEDULES].index_information())

    def _finder(self, last: LastCommit) -> Finder:
        return Finder(self._db, last, self._indexes)

    def _last_commit(self) -> LastCommit:
        meta = read_meta(self._db, self._reach.address)
        self._last = last_commit(self._db, meta, self._last)
        return self._last

    def _ask(self, ask: Callable[[LastCommit], T]) -> T:
        return self._reach.first(lambda: self._steadily(ask))

    def _steadily(self, ask: Callable[[LastCommit], T]) -> T:
        for _ in range(_TRIES):
            last = self._last_commit()
            answer = ask(last)
            if read_meta(self._db, self._reach.address).seq == last.meta.seq:
                break
        return answer
