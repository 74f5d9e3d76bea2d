"""What is produced for an item: the message itself, or its dead letter and a note."""

from dataclasses import dataclass

from pipeline.deadletter import dead_letter_headers
from pipeline.outbox.item import Headers, Item
from pipeline.outbox.note import write_note
from pipeline.outbox.refusal import Refusal

FIRE_ID = "duestream-fire-id"


@dataclass(frozen=True, slots=True)
class Record:
    """One record to produce."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers | None
    partition: int = -1  # by the key


@dataclass(frozen=True, slots=True)
class Shape:
    """Where records go that are not the message itself, and what is added to those that are."""

    dead_letter_topic: str
    internal_topic: str
    fire_id_header: bool

    def message(self, item: Item) -> Record:
        """Return the message as it was scheduled."""
        chunk, i = item.chunk, item.index
        headers, partition = chunk.headers[i], chunk.to_partition[i]
        if self.fire_id_header:
            headers = [*(headers or []), (FIRE_ID, item.fire_id.encode())]
        return Record(
            chunk.topic[i],
            chunk.key[i],
            chunk.payload[i],
            headers,
            -1 if partition is None else partition,
        )

    def dead_letter(self, item: Item, refusal: Refusal) -> Record:
        """Return what goes to the dead-letter topic instead of a message Kafka refused."""
        chunk, i = item.chunk, item.index
        return Record(
            self.dead_letter_topic,
            chunk.source_key[i],
            chunk.payload[i],
            (chunk.headers[i] or [])
            + dead_letter_headers(refusal.reason, refusal.detail, item.version),
        )

    def note(self, item: Item, refusal: Refusal, lane: int, at: int) -> Record:
        """Return the note that tells the state."""
        value = write_note(item, refusal, at)
        return Record(self.internal_topic, item.identity, value, None, lane)
