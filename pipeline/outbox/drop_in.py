"""What follows a message in place of another scheduler, as its consumers and tools expect it.

A mark on the schedule topic, a record without a value, says that the schedule of its key is over:
else it would look pending for ever. It goes to the partition of the schedule, where compaction
finds both. What has been sent may besides be kept on a history topic.
"""

from collections.abc import Mapping
from typing import NamedTuple

from pipeline.dialects.marks import ENDED, EXPIRED
from pipeline.outbox.headers import Headers
from pipeline.outbox.item import Chunk, Item
from pipeline.outbox.lane import Flush
from pipeline.outbox.record import OMITTED, Record
from state.row import Status


class Replaced(NamedTuple):
    """The scheduler that a source is a drop-in for."""

    dialect: str
    history_topic: str | None = None

    def after(self, item: Item, message: Record, status: Status, *, whole: bool) -> list[Record]:
        """Return what follows a message that went out, or that ended otherwise.

        With ``whole`` not set only what must be there, for topics that take no large records.
        """
        if status is Status.PENDING:  # it is tried again
            return []
        mark = _mark(self, item, message, status, whole=whole)
        if self.history_topic is None or status is not Status.DONE:
            return [mark]
        return [mark, _kept(self.history_topic, message, whole=whole)]


class DropIn:
    """Knows the source topics on which another scheduler is replaced."""

    def __init__(self, sources: Mapping[str, Replaced] | None = None) -> None:
        self._sources = dict(sources or {})

    def is_in(self, flush: Flush) -> bool:
        """Tell whether something follows a message of the flush; with no such source at no cost."""
        return bool(self._sources) and any(map(self._concerns, flush.chunks))

    def of(self, item: Item) -> Replaced | None:
        """Return the scheduler whose schedule a message was."""
        return self._sources.get(item.version.topic) if item.is_message else None

    def takes_no_records(self, why: str) -> str:
        """Say that a topic does not take what follows a message."""
        topics = f"the source topic {', '.join(sorted(self._sources))} (sources[].drop_in)"
        kept = {each.history_topic for each in self._sources.values() if each.history_topic}
        if kept:
            topics += f" or the history topic {', '.join(sorted(kept))} (sources[].history_topic)"
        return (
            f"{topics} takes no records: {why}; check that all exist, that this job may write "
            "there, and their max.message.bytes; or leave drop_in out. What was to go out is in "
            "the state and goes out at the next start"
        )

    def _concerns(self, chunk: Chunk) -> bool:
        return any(topic in self._sources for topic in chunk.traits.sources)


def _mark(source: Replaced, item: Item, message: Record, status: Status, *, whole: bool) -> Record:
    version = item.version
    headers: Headers = [(ENDED, status.value.encode())]
    if source.dialect.startswith("kms-"):
        # Exactly what that scheduler writes of a message that is out.
        headers = [(EXPIRED, b"true"), *(headers if status is not Status.DONE else [])]
    elif source.dialect == "etf1" and whole:
        headers = [*(message.headers or []), *headers]
    key = item.chunk.source_key[item.index]
    return Record(version.topic, key, None, headers, version.partition)


def _kept(topic: str, message: Record, *, whole: bool) -> Record:
    if whole:
        return Record(topic, message.key, message.value, message.headers)
    size = f"{len(message.value or b'')} bytes".encode()
    return Record(topic, message.key, None, [(OMITTED, size)])
