"""Counts the live rows of a state."""

from state.ledger import Live
from state.mongo.last_commit import Changed, is_shown
from state.mongo.layout import CLAIM_INDEX, DUE_INDEX, LAST_CLAIM, SCHEDULES, VERSIONS, Db, Document
from state.mongo.meta import Meta
from state.row import DUE, KIND, LIVE, OUTPUT_TOPIC, PARKED, STATUS, Status

_IS_PARKED = {"$gte": [f"${DUE}", PARKED]}


def live_rows(db: Db, meta: Meta, changed: Changed) -> Live:
    """Count the live rows as they stand after the last commit."""
    live: Live = {}
    for name, status, narrowed, hint in (
        (SCHEDULES, Status.PENDING, {}, DUE_INDEX),
        (VERSIONS, Status.PENDING, {}, DUE_INDEX),
        (SCHEDULES, Status.CLAIMED, {LAST_CLAIM: {"$gte": meta.oldest_claim}}, CLAIM_INDEX),
        (VERSIONS, Status.CLAIMED, {LAST_CLAIM: {"$gte": meta.oldest_claim}}, CLAIM_INDEX),
    ):
        apart = {"_id": {"$nin": list(changed[name])}} if changed[name] else {}
        group = {KIND: f"${KIND}", OUTPUT_TOPIC: f"${OUTPUT_TOPIC}", "parked": _IS_PARKED}
        steps: list[Document] = [
            {"$match": {STATUS: status.value, **narrowed, **apart}},
            {"$group": {"_id": group, "count": {"$sum": 1}, "due": {"$min": f"${DUE}"}}},
        ]
        for found in db[name].aggregate(steps, hint=hint):
            kind, topic = found["_id"].get(KIND), found["_id"].get(OUTPUT_TOPIC)
            named = status.value, kind, topic, found["_id"]["parked"]
            _add(live, named, found["count"], found["due"])
    for documents in changed.values():
        for document in filter(is_shown, documents.values()):
            if document[STATUS] in LIVE:
                topic, due = document.get(OUTPUT_TOPIC), document[DUE]
                _add(live, (document[STATUS], document[KIND], topic, due >= PARKED), 1, due)
    return live


def _add(live: Live, named: tuple[str, str, str | None, bool], count: int, due: int) -> None:
    before, least = live.get(named, (0, due))
    live[named] = before + count, min(least, due)
