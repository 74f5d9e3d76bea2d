"""Finds the pending rows that are due, lane by lane, in the order of their release.

Every question follows the index to its end: what is read is what may be claimed.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from pymongo import ASCENDING

from state.claims import Room
from state.cursor import ORDER
from state.mongo.layout import DUE_INDEX, LANE, Db, Document
from state.pausing import Paused
from state.row import DUE, KIND, OUTPUT_TOPIC, PARKED, STATUS, Kind, Status

_SORT = [(name, ASCENDING) for name in ORDER]
_FETCH = 5_000
_LONG_AGO = 0
_MOST_COUNTED = 100_000


def due_rows(
    db: Db, places: Sequence[str], until: int, room: Room, besides: int
) -> Iterator[Document]:
    """Yield all rows that may have to be claimed, and perhaps more of them.

    ``places`` are the collections to look in; ``besides`` is how many of those found may not be
    claimed after all.
    """
    for lane, most in enumerate(room.lanes):
        if most == 0:
            continue
        for where, limit in _questions(lane, until, room):
            for name in places:
                yield from db[name].find(
                    where, sort=_SORT, limit=limit + besides, batch_size=_FETCH, hint=DUE_INDEX
                )


def least_due(db: Db, places: Sequence[str], lanes: int) -> int | None:
    """Return an instant at or before the least due of all pending rows, None without any."""
    if lanes == 0:  # not divided yet: whatever is there is found once they are
        return _LONG_AGO if any(any_pending(db, name) for name in places) else None
    dues = []
    for name in places:
        for lane in range(lanes):
            where = {STATUS: Status.PENDING.value, LANE: lane, DUE: {"$lt": PARKED}}
            found = db[name].find_one(where, {DUE: 1}, sort=_SORT, hint=DUE_INDEX)
            if found is not None:
                dues.append(int(found[DUE]))
    return min(dues, default=None)


def due_of(db: Db, places: Sequence[str], lanes: int, after: int, until: int, count: int) -> int:
    """Return when the row is due that is so many after an instant; ``until`` if it is not before.

    It reads the index alone, ``count`` keys of it at the most.
    """
    where = {
        STATUS: Status.PENDING.value,
        LANE: {"$in": list(range(lanes))},
        DUE: {"$gt": after, "$lt": min(until, PARKED)},
    }
    only = {"_id": 0, DUE: 1}
    options: dict[str, Any] = {"sort": _SORT, "skip": count - 1, "limit": 1, "hint": DUE_INDEX}
    found = [int(d[DUE]) for name in places for d in db[name].find(where, only, **options)]
    return min(found, default=until)


def count_due(db: Db, places: Sequence[str], lanes: int, before: int) -> int:
    """Count the pending rows due before an instant, up to a number."""
    where = {
        STATUS: Status.PENDING.value,
        LANE: {"$in": list(range(lanes))},
        DUE: {"$lt": before},
    }
    return sum(
        db[name].count_documents(where, hint=DUE_INDEX, limit=_MOST_COUNTED) for name in places
    )


def parked_rows(
    db: Db, places: Sequence[str], lanes: int, paused: Paused, most: int
) -> list[Document]:
    """Return rows that are parked and not paused, up to a number."""
    found: list[Document] = []
    others = {"$nor": [{KIND: Kind.MESSAGE.value, OUTPUT_TOPIC: {"$in": sorted(paused.topics)}}]}
    for name in places:
        for lane in range(lanes):
            where = {STATUS: Status.PENDING.value, LANE: lane, DUE: PARKED, **others}
            if len(found) < most:
                found += db[name].find(where, limit=most - len(found), hint=DUE_INDEX)
    return found


def any_pending(db: Db, name: str) -> bool:
    """Tell whether a collection has a pending row."""
    where = {STATUS: Status.PENDING.value}
    return db[name].find_one(where, {"_id": 1}, hint=DUE_INDEX) is not None


def _questions(lane: int, until: int, room: Room) -> Iterator[tuple[Document, int]]:
    pending: dict[str, Any] = {STATUS: Status.PENDING.value, LANE: lane, DUE: {"$lte": until}}
    if not room.quotas:
        yield pending, room.lanes[lane]
        return
    # A backlog with a quota would stand before everything else: it is asked for by itself.
    backlog = {"$lt": min(room.backlog_before, until + 1)}
    topics = list(room.quotas)
    apart = {"$nor": [{OUTPUT_TOPIC: {"$in": topics}, DUE: backlog}]}
    yield pending | apart, room.lanes[lane]
    for topic, quota in room.quotas.items():
        if quota > 0:
            yield pending | {DUE: backlog, OUTPUT_TOPIC: topic}, min(quota, room.lanes[lane])
