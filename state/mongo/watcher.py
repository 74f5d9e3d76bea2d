"""Answers the questions of a process that asks again and again from totals that the job keeps."""

from collections import Counter
from dataclasses import replace

from state.cursor import Order
from state.inspector import Filter, Stats, Waiting
from state.ledger import ledger_of
from state.mongo.inspector import MongoInspector
from state.mongo.last_commit import LastCommit
from state.mongo.layout import SCHEDULES, TOPIC_INDEX, VERSIONS, Document
from state.mongo.tallying import tally_of
from state.mongo.topics import Pending
from state.row import DUE, KIND, OUTPUT_TOPIC, PARKED, STATUS, Kind, Status
from state.tally import COUNT, FIRST
from state.waiting import HELD, TIMED

_BOTH = (Order.NEXT_DUE, Order.LAST_DUE)
_NEXT = replace(TIMED, kind=None, limit=1)
_PARKED = replace(HELD, kind=None)
_CLAIMED = Filter(statuses=[Status.CLAIMED], kind=None)


class MongoWatcher(MongoInspector):
    """Counts no pending rows; an inspector does, and so finds what the totals would not show."""

    def stats(self, now: int) -> Stats:
        """Return the figures of the last commit."""
        found = self._ask(lambda last: self._stats(last, now))
        return super().stats(now) if found is None else found

    def waiting(self) -> list[Waiting]:
        """Return what is pending by output topic, as of the last commit."""
        found = self._ask(self._waiting)
        return super().waiting() if found is None else found

    def _stats(self, last: LastCommit, now: int) -> Stats | None:
        meta, pending = last.meta, last.meta.pending
        if pending is None:
            return None
        claimed = self._count(last, _CLAIMED, [KIND])
        of_messages = sum(row[COUNT] for row in claimed if row[KIND] == Kind.MESSAGE)
        standing = {Status.PENDING.value: sum(pending.values()), Status.CLAIMED.value: of_messages}
        coming = self._dues(last, _NEXT)
        dues = [*coming, *(row[FIRST] for row in claimed)]
        return Stats(
            ledger=ledger_of(meta.counts, Counter(standing)),
            last_batch=meta.last_batch,
            next_due=next(iter(coming), None),
            oldest_overdue=min((due for due in dues if due < now), default=None),
            pending_by_topic=dict(pending),
            paused=sum(row[COUNT] for row in self._count(last, _PARKED, [])),
            pauses=meta.paused,
        )

    def _waiting(self, last: LastCommit) -> list[Waiting] | None:
        pending = last.meta.pending
        if pending is None:
            return None
        held = self._count(last, HELD, [OUTPUT_TOPIC])
        paused = Counter({row[OUTPUT_TOPIC]: row[COUNT] for row in held})
        firsts, lasts = (self._ends(last, pending, order) for order in _BOTH)
        return [
            Waiting(topic, count, paused[topic], firsts.get(topic), lasts.get(topic))
            for topic, count in sorted(pending.items())
        ]

    def _ends(self, last: LastCommit, pending: Pending, order: Order) -> dict[str, int]:
        """Return of each topic the due that comes first in an order."""
        if last.is_carried_out and TOPIC_INDEX in self._indexes:
            return self._skimmed(order)
        where = replace(TIMED, order=order, limit=1)
        found = {t: self._dues(last, replace(where, output_topic=t)) for t in pending}
        return {topic: dues[0] for topic, dues in found.items() if dues}

    def _skimmed(self, order: Order) -> dict[str, int]:
        """Ask for one row of each topic: the server passes from topic to topic in its index."""
        match = {STATUS: Status.PENDING.value, KIND: Kind.MESSAGE.value, DUE: {"$lt": PARKED}}
        way = -1 if order.descends else 1
        steps: list[Document] = [
            {"$match": match},
            {"$sort": {OUTPUT_TOPIC: way, DUE: way}},
            {"$group": {"_id": f"${OUTPUT_TOPIC}", DUE: {"$first": f"${DUE}"}}},
        ]
        found: dict[str, int] = {}
        for name in (SCHEDULES, VERSIONS):
            for row in self._db[name].aggregate(steps, hint=TOPIC_INDEX):
                topic, due = str(row["_id"]), int(row[DUE])
                better = max if order.descends else min
                found[topic] = better(due, found.get(topic, due))
        return found

    def _dues(self, last: LastCommit, where: Filter) -> list[int]:
        rows = self._finder(last).find(where, [DUE])
        dues: list[int] = rows.column(DUE).to_pylist()
        return sorted(dues, reverse=where.order.descends)[:1]

    def _count(self, last: LastCommit, where: Filter, by: list[str]) -> list[Document]:
        counted = tally_of(self._db, last, where, by, None, DUE, self._indexes)
        rows: list[Document] = counted.to_pylist()
        return rows
