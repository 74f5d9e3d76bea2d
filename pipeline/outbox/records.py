"""What is produced for an item: the message itself, or its dead letter and a note."""

from dataclasses import dataclass
from typing import NamedTuple

from pipeline.clock import instant_text
from pipeline.deadletter import dead_letter_headers
from pipeline.outbox.item import FIRE_ID, Headers, Item
from pipeline.outbox.marker import Marker
from pipeline.outbox.note import write_note
from pipeline.outbox.retry import Decision

ATTEMPTS = "duestream-attempts"  # when it was tried
OMITTED = "duestream-value-omitted"


class Record(NamedTuple):
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
    markers_topic: str
    fire_id_header: bool
    state_id: str

    @property
    def marker_key(self) -> bytes:
        """The key of this state's markers."""
        return self.state_id.encode()

    def marker(self, marker: Marker, lane: int) -> Record:
        """Return what says that a lane has come so far."""
        return Record(self.markers_topic, self.marker_key, marker.to_json(), None, lane)

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

    def refused(self, item: Item, decision: Decision, lane: int, *, whole: bool) -> list[Record]:
        """Return what goes out instead of a message Kafka refused."""
        note = Record(
            self.internal_topic,
            item.identity,
            write_note(item, decision, self.state_id),
            None,
            lane,
        )
        letters = [self._dead_letter(item, decision, whole=whole)] if decision.is_dead else []
        return [*letters, note]

    def _dead_letter(self, item: Item, decision: Decision, *, whole: bool) -> Record:
        """Return what goes to the dead-letter topic.

        Where even that topic takes no record so large it goes without the value, and says so.
        """
        chunk, i = item.chunk, item.index
        payload = chunk.payload[i]
        headers: Headers = list(chunk.headers[i] or []) if whole else []
        refusal = decision.refusal
        headers += dead_letter_headers(refusal.reason, refusal.detail, item.version)
        headers.append((ATTEMPTS, ", ".join(map(instant_text, decision.attempted_at)).encode()))
        if not whole:
            payload, size = None, len(payload or b"")
            headers.append((OMITTED, f"{size} bytes".encode()))
        return Record(self.dead_letter_topic, chunk.source_key[i], payload, headers)

    def takes_no_records(self, why: str) -> str:
        """Say that one of the job's own topics fails."""
        return (
            f"the dead-letter topic {self.dead_letter_topic}, the internal topic "
            f"{self.internal_topic} or {self.markers_topic} takes no records: {why}; check that "
            "all exist, that this job may write there, and their max.message.bytes"
        )
