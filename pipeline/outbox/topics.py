"""Knows which output topics exist and how many partitions they have, asking Kafka when in doubt."""

import threading
import time

from confluent_kafka.admin import AdminClient

from pipeline.outbox.item import Item
from pipeline.outbox.refusal import Refusal
from pipeline.reasons import Reason

_ASK_AGAIN_AFTER = 1.0  # seconds; a topic may be created at any time
_TIMEOUT = 10.0


class Topics:
    """The cluster's topics as last seen; shared by all lanes."""

    def __init__(self, options: dict[str, object]) -> None:
        self._admin = AdminClient(options)
        self._lock = threading.Lock()
        self._partitions: dict[str, int] = {}
        self._asked = 0.0

    def partitions(self, topic: str) -> int | None:
        """Return the number of partitions of ``topic``, None if there is no such topic.

        All topics are listed: asking for one by name may create it on brokers that create topics
        automatically.
        """
        with self._lock:
            if topic not in self._partitions and self._may_ask():
                listed = self._admin.list_topics(timeout=_TIMEOUT).topics
                self._partitions = {name: len(known.partitions) for name, known in listed.items()}
                self._asked = time.monotonic()
            return self._partitions.get(topic)

    def refused(self, items: list[Item]) -> dict[int, Refusal]:
        """Return, by place, the items whose topic or partition does not exist."""
        found = ((number, self.refusal(item)) for number, item in enumerate(items))
        return {number: refusal for number, refusal in found if refusal is not None}

    def refusal(self, item: Item) -> Refusal | None:
        """Return why ``item`` cannot be published, as far as its topic tells."""
        topic, partition = item.chunk.topic[item.index], item.chunk.to_partition[item.index]
        count = self.partitions(topic)
        if count is None:
            return Refusal(Reason.UNKNOWN_TOPIC, f"topic {topic} does not exist; create it")
        if partition is not None and partition >= count:
            return Refusal(
                Reason.UNKNOWN_PARTITION,
                f"topic {topic} has {count} partitions, none with number {partition}",
            )
        return None

    def _may_ask(self) -> bool:
        return not self._asked or time.monotonic() - self._asked > _ASK_AGAIN_AFTER
