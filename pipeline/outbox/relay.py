"""Lends the lanes to executors when much is overdue, and takes them back with what they did.

The lanes rest meanwhile. An instant is fixed, and all that is due up to it goes out by tasks of
Spark, one a lane; what is due later, and what is held, stays here. Afterwards each lane is opened
again, which fences whoever still holds it, and its marker says what is out. So it does not matter
how a task has ended: what is out is closed, the rest goes back to its lane.
"""

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.clock import now_micros
from pipeline.observe.observer import SILENT, Flushed, Lanes, Observer, Sent
from pipeline.outbox.deputies import Deputies
from pipeline.outbox.errand import Done, Errand, pack
from pipeline.outbox.item import Chunk, Item, items_by_lane
from pipeline.outbox.lane import Ceded
from pipeline.outbox.marker import Marker
from pipeline.outbox.publisher import Lender, Published
from pipeline.outbox.report import Out, Report
from pipeline.outbox.worker import Worker, sent
from state import row
from state.admission import coordinates_of

log = logging.getLogger(__name__)

_REMEMBERED = [*(field.name for field in row.VERSION_FIELDS), row.DUE]
_PATIENCE = 5.0  # seconds in which a lane has to end its transaction; else it goes on as ever


Add = Callable[[int, pa.Table], None]  # gives the claims of a batch to their lanes


class Share(NamedTuple):
    """What a lane gives away."""

    worker: Worker
    lender: Lender
    ceded: Ceded
    rows: pa.Table


class Relay:
    """Decides whether executors publish, and sees to it that the lanes are right afterwards."""

    def __init__(
        self,
        workers: Sequence[Worker],
        lenders: Sequence[Lender],
        deputies: Deputies,
        above: int,
        report: Report,
        clock: Callable[[], int] = now_micros,
        observer: Observer = SILENT,
    ) -> None:
        self._workers = workers
        self._lenders = lenders
        self._deputies = deputies
        self._above = above
        self._report = report
        self._clock = clock
        self._observer = observer
        self._away: Lanes | None = None
        self._since: float | None = None  # when tasks had ended, and the lanes were to come back
        self._unseen: list[Item] = []

    def away(self) -> Lanes | None:
        """Tell what is with executors just now; from any thread."""
        away, since = self._away, self._since
        trying = 0.0 if since is None else time.monotonic() - since  # tasks have a limit of theirs
        return away and replace(away, trying=trying)

    def unseen(self) -> list[Item]:
        """Return what is out by a marker's word alone, since the last call: receipts are lost."""
        unseen, self._unseen = self._unseen, []
        return unseen

    def hand_over(self, batch: int, claims: pa.Table, add: Add) -> pa.Table:
        """Have much that is overdue published; return the claims that are left for the lanes.

        Lanes that are lent rest until ``resume``. Those that are not get theirs by ``add``.
        """
        now = self._clock()
        if not self._is_much(claims, now):
            return claims
        if not all(worker.rest(_PATIENCE) for worker in self._workers):
            return claims
        shares, left = self._shares(batch, claims, now)
        packed = [pack(share.rows) for share in shares]
        if not shares or not self._deputies.can_carry(map(len, packed)):
            return pa.concat_tables([left, *(share.rows for share in shares)])
        left = self._let_others_go_on(shares, batch, left, add)
        now = self._clock()
        errands = [_errand(s, batch, now, rows) for s, rows in zip(shares, packed, strict=True)]
        done = self._run(shares, errands)
        return pa.concat_tables([left, *self._settle(shares, done)])

    def resume(self) -> None:
        """Let the lanes go on."""
        for worker in self._workers:
            worker.resume()

    def _let_others_go_on(
        self, shares: list[Share], batch: int, left: pa.Table, add: Add
    ) -> pa.Table:
        """Let lanes that give nothing away publish; return the claims of the others.

        Their claims first: ``cede`` has told each lane of the batch, so its next marker speaks
        for all claims of it. One that is not in the lane by then would count as out and be lost.
        """
        lent = [share.worker for share in shares]
        others = [n for n, worker in enumerate(self._workers) if worker not in lent]
        lanes = left[row.HASH].to_numpy() % len(self._workers)
        are_theirs = np.isin(lanes, others)
        add(batch, left.filter(pa.array(are_theirs)))
        for number in others:
            self._workers[number].resume()
        return left.filter(pa.array(~are_theirs))

    def _is_much(self, claims: pa.Table, now: int) -> bool:
        if not self._deputies.are_able or not self._deputies.can_carry([claims.nbytes]):
            return False
        overdue = pc.sum(pc.less_equal(claims[row.DUE], now)).as_py() or 0
        return overdue + sum(w.standing(now).overdue for w in self._workers) > self._above

    def _shares(self, batch: int, claims: pa.Table, now: int) -> tuple[list[Share], pa.Table]:
        """Part what is due from what is not, by lane; the latter is returned besides."""
        dues = claims[row.DUE].to_numpy()
        lanes = claims[row.HASH].to_numpy() % len(self._workers)
        stays = np.ones(claims.num_rows, dtype=bool)
        shares = []
        for number, (worker, lender) in enumerate(zip(self._workers, self._lenders, strict=True)):
            upto = max(now, worker.lane.watermark)
            due = np.flatnonzero((lanes == number) & (dues <= upto))
            stays[due] = False
            seen = worker.seen_among(claims[row.IDENTITY].take(pa.array(due)))
            few = _items(claims, pa.array(due[seen]))  # to be held, perhaps: the lane knows
            ceded = worker.cede(few, batch, now)
            others = claims.take(pa.array(np.delete(due, seen)))
            rows = pa.concat_tables([*_rows_of(ceded.items), others])
            if rows.num_rows:
                shares.append(Share(worker, lender, ceded, rows))
        return shares, claims.filter(pa.array(stays))

    def _run(self, shares: list[Share], errands: list[Errand]) -> dict[int, Done]:
        count = sum(share.rows.num_rows for share in shares)
        least = min(pc.min(share.rows[row.DUE]).as_py() for share in shares)
        began, self._since = time.monotonic(), None
        self._away = Lanes(count, 0, count, least)
        done = {each.lane: each for each in self._deputies.run(errands, count)}
        self._since = time.monotonic()
        log.info("executors took %d overdue messages in %.1f s", count, self._since - began)
        return done

    def _settle(self, shares: list[Share], done: dict[int, Done]) -> list[pa.Table]:
        """Take the lanes back; return the rows that are not out."""
        left = [self._take_back(s, done.get(s.worker.lane.number)) for s in shares]
        self._away = None
        if any(rows.num_rows for rows in left) or len(done) < len(shares):
            self._deputies.had_trouble()
        return left

    def _take_back(self, share: Share, done: Done | None) -> pa.Table:
        marker = share.lender.take_back(self._wait)
        number, rows = share.worker.lane.number, share.rows
        done = done or Done(number)
        out = Out(rows, *done.out)
        covered = _covered(rows, marker)
        told = np.zeros(rows.num_rows, dtype=bool)
        told[out.index.to_numpy()] = True
        told[list(done.decided)] = True
        self._report.add_out(out)
        decided = dict(enumerate(done.decided.values()))
        items = _items(rows, pa.array(list(done.decided), pa.int64()))
        self._report.add(items, Published(None, [None] * len(items), decided))
        self._unseen += _items(rows, pa.array(np.flatnonzero(covered & ~told)))
        share.worker.ceded_until(marker.watermark, rows.select(_REMEMBERED).take(out.index))
        self._tell(number, out, done)
        return rows.filter(pa.array(~covered))

    def _wait(self) -> None:
        self._observer.waits("Kafka cannot be reached")

    def _tell(self, lane: int, out: Out, done: Done) -> None:
        """Tell who listens of each transaction."""
        if not self._observer.listens:
            return
        start = 0
        for began, ended, count in done.flushes:
            seen = partial(_sent, out.claims, out.index.slice(start, count))
            self._observer.flushed(Flushed(lane, began, ended, seen))
            start += count


def _errand(share: Share, batch: int, now: int, packed: bytes) -> Errand:
    ceded, lane = share.ceded, share.worker.lane
    loan = share.lender.lend()
    return Errand(lane.number, lane.lanes, batch, ceded.upto, ceded.not_out, now, loan, packed)


def _covered(rows: pa.Table, marker: Marker) -> "npt.NDArray[np.bool_]":
    """Tell of each row whether it is out, by what the marker says."""
    dues, claims = rows[row.DUE].to_numpy(), rows[row.CLAIM].to_numpy()
    covered: npt.NDArray[np.bool_] = (claims <= marker.batch) & (dues <= marker.watermark)
    if marker.besides:
        named = set(marker.besides)
        covered &= np.array([name not in named for name in coordinates_of(rows)], dtype=bool)
    return covered


def _items(rows: pa.Table, places: pa.Array) -> list[Item]:
    return [item for _, item in items_by_lane(rows.take(places), 1)]


def _rows_of(items: Iterable[Item]) -> list[pa.Table]:
    """Return the rows of items, by the hand-over they came with."""
    places: defaultdict[Chunk, list[int]] = defaultdict(list)
    for item in items:
        places[item.chunk].append(item.index)
    return [chunk.claims.take(pa.array(of, pa.int64())) for chunk, of in places.items()]


def _sent(rows: pa.Table, places: pa.Array) -> Iterator[Sent]:
    return sent(_items(rows, places))
