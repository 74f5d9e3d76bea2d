"""Divides the schedules anew when a job has another number of lanes than the last one."""

import logging
from functools import partial

from pymongo import ASCENDING

from state.mongo.documents import slices
from state.mongo.layout import DUE_INDEX, LANE, SCHEDULES, VERSIONS, Document
from state.mongo.reach import Reach
from state.row import HASH, LIVE, STATUS, Status

_SLICE = 5_000  # no call takes so long that it is taken for lost

log = logging.getLogger(__name__)


def divide(reach: Reach, lanes: int) -> None:
    """Give every live schedule its lane; it may be cut short and done again."""
    last: object = None
    while ids := reach.surely(partial(_next_ids, reach, last)):
        if last is None:
            log.info("the schedules are divided into %d lanes", lanes)
        reach.surely(partial(_divide, reach, ids, lanes))
        last = ids[-1]
    for some in slices(reach.surely(partial(_pending_beside, reach))):
        reach.surely(partial(_set_lanes, reach, VERSIONS, some, lanes))


def _next_ids(reach: Reach, after: object) -> list[object]:
    where: Document = {} if after is None else {"_id": {"$gt": after}}
    found = reach.db[SCHEDULES].find(where, {"_id": 1}).sort("_id", ASCENDING).limit(_SLICE)
    return [document["_id"] for document in found]


def _divide(reach: Reach, ids: list[object], lanes: int) -> None:
    for some in slices(ids):
        _set_lanes(reach, SCHEDULES, some, lanes)


def _pending_beside(reach: Reach) -> list[object]:
    where = {STATUS: Status.PENDING.value}
    found = reach.db[VERSIONS].find(where, {"_id": 1}, hint=DUE_INDEX)
    return [document["_id"] for document in found]


def _set_lanes(reach: Reach, name: str, ids: list[object], lanes: int) -> None:
    live = {STATUS: {"$in": [status.value for status in sorted(LIVE)]}}
    named = {"_id": {"$in": ids}} | live
    reach.db[name].update_many(named, [{"$set": {LANE: {"$mod": [f"${HASH}", lanes]}}}])
