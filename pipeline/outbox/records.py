"""What is produced for an item: the message itself, or its dead letter and a note."""

from dataclasses import dataclass

from pipeline.deadletter import dead_letter_headers
from pipeline.outbox.item import Headers, Item
from pipeline.outbox.note import write_note
from pipeline.outbox.refusal import Refusal

FIRE_ID = "duestream-fire-id"
OMITTED = "duestream-value-omitted"


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
    state_id: str

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

    def dead_letter(self, item: Item, refusal: Refusal, *, whole: bool = True) -> Record:
        """Return what goes to the dead-letter topic instead of a message Kafka refused.

        Where even that topic takes no record so large it goes without the value, and says so.
        """
        chunk, i = item.chunk, item.index
        payload = chunk.payload[i]
        headers: Headers = list(chunk.headers[i] or []) if whole else []
        headers += dead_letter_headers(refusal.reason, refusal.detail, item.version)
        if not whole:
            payload, size = None, len(payload or b"")
            headers.append((OMITTED, f"{size} bytes".encode()))
        return Record(self.dead_letter_topic, chunk.source_key[i], payload, headers)

    def note(self, item: Item, refusal: Refusal, lane: int, at: int) -> Record:
        """Return the note that tells the state."""
        value = write_note(item, refusal, at, self.state_id)
        return Record(self.internal_topic, item.identity, value, None, lane)

    def takes_no_records(self, why: str) -> str:
        """Say that one of the job's own topics fails."""
        return (
            f"the dead-letter topic {self.dead_letter_topic} or the internal topic "
            f"{self.internal_topic} takes no records: {why}; check that both exist, that this job "
            "may write there, and their max.message.bytes"
        )
