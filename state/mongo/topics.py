"""Keeps how many messages are pending for each output topic, so that nobody has to count them."""

from collections import Counter
from collections.abc import Iterator, Mapping

from state.mongo.claiming import Claimed
from state.mongo.layout import DUE_INDEX, SCHEDULES, VERSIONS, Db, Document
from state.mongo.scene import Home, Scene
from state.resolve import Known
from state.row import KIND, OUTPUT_TOPIC, STATUS, Kind, Status

Pending = dict[str, int]


def count_pending(db: Db) -> Pending:
    """Count them once: when a state was copied, or written by a version that did not."""
    match = {STATUS: Status.PENDING.value, KIND: Kind.MESSAGE.value}
    steps: list[Document] = [
        {"$match": match},
        {"$group": {"_id": f"${OUTPUT_TOPIC}", "count": {"$sum": 1}}},
    ]
    counted: Counter[str] = Counter()
    for name in (SCHEDULES, VERSIONS):
        for found in db[name].aggregate(steps, hint=DUE_INDEX):
            counted[str(found["_id"])] += found["count"]
    return dict(counted)


def pending_after(before: Mapping[str, int], scene: Scene, claimed: Claimed) -> Pending:
    """Return how many are pending once a commit is made."""
    counted = Counter(before)
    for topic, more in _moves(scene):
        counted[topic] += more
    for document in claimed.found:
        if document[KIND] == Kind.MESSAGE:
            counted[str(document.get(OUTPUT_TOPIC))] -= 1
    return {topic: count for topic, count in counted.items() if count}


def _moves(scene: Scene) -> Iterator[tuple[str, int]]:
    """Yield the topic of each message that is pending now and was not, or the other way round."""
    for identity in scene.lines:
        for known in scene.known[identity].values():
            home = scene.homes.get(known.coordinates)
            more = int(known.status is Status.PENDING) - int(_was_pending(home))
            if more and known.kind == Kind.MESSAGE:
                yield str(_topic(scene, home, known)), more


def _was_pending(home: Home | None) -> bool:
    document = None if home is None else home.document
    return document is not None and document[STATUS] == Status.PENDING


def _topic(scene: Scene, home: Home | None, known: Known) -> str | None:
    if home is None:
        return _named(scene.contents[known.content])
    if home.document is not None:
        return _named(home.document)
    claim = scene.claims.get(known.coordinates)
    return None if claim is None else claim.topic


def _named(document: Document) -> str | None:
    topic: str | None = document.get(OUTPUT_TOPIC)
    return topic
