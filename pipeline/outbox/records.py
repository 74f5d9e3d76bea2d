"""What is produced for an item: the message itself, or what was decided instead."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat

from pipeline.clock import instant_text
from pipeline.deadletter import dead_letter_headers
from pipeline.outbox.decision import Decision
from pipeline.outbox.drop_in import DropIn
from pipeline.outbox.headers import Headers, replaced
from pipeline.outbox.item import FIRE_ID, Item, late_ms
from pipeline.outbox.lane import Flush
from pipeline.outbox.marker import Marker
from pipeline.outbox.marks import NEVER, LateMarks, Marks, late_mark
from pipeline.outbox.note import write_note
from pipeline.outbox.record import OMITTED, Fields, Record
from pipeline.outbox.shapes import OutputShapes
from state.row import Status

ATTEMPTS = "duestream-attempts"  # when it was tried
OUTPUT_TOPIC = "duestream-output-topic"  # where it was to go
RUN = "duestream-run"  # which run of the job wrote a marker

_ROOM = 512  # bytes that suffice for a message's marks and fire id


@dataclass(frozen=True, slots=True)
class Shape:
    """Where records go that are not the message itself, and how those look that are."""

    dead_letter_topic: str
    internal_topic: str
    markers_topic: str
    fire_id_header: bool
    state_id: str
    late_topic: str | None = None  # where messages go that have expired
    marks: Marks = field(default_factory=Marks)
    outputs: OutputShapes = field(default_factory=OutputShapes)
    drop_in: DropIn = field(default_factory=DropIn)

    @property
    def marker_key(self) -> bytes:
        """The key of this state's markers."""
        return self.state_id.encode()

    def marker(self, marker: Marker, lane: int, run: str) -> Record:
        """Return what says that a lane has come so far, and in which run of the job."""
        headers: Headers = [(RUN, run.encode())]
        return Record(self.markers_topic, self.marker_key, marker.to_json(), headers, lane)

    def messages(self, flush: Flush, now: int) -> Iterator[Fields]:
        """Return all messages of a flush that goes out at ``now``."""
        items = flush.items
        if not any(self.outputs.touch(chunk) for chunk in flush.chunks):
            if not self.marks.may_be_in(flush, now):
                return self._as_scheduled(items)  # nearly always
            if self.marks.are_but_late(flush):
                return self._as_scheduled(items, self.marks.late_before(now), now)
        return map(self._finished, self._as_scheduled(items), items, repeat(now))

    def message(self, item: Item, now: int) -> Record:
        """Return a message that goes out at ``now``: marked, and in the shape of its topic."""
        return self._finished(next(self._as_scheduled([item])), item, now)

    def at_most(self, topic: str, size: int) -> int:
        """Return a size that no message for ``topic`` of ``size`` bytes will exceed."""
        shape = self.outputs.of(topic)
        return (size if shape is None else shape.at_most(size)) + _ROOM

    def instead(self, item: Item, decision: Decision, lane: int, *, whole: bool) -> list[Record]:
        """Return what goes out for a message about which something else was decided."""
        note = Record(
            self.internal_topic,
            item.identity,
            write_note(item, decision, self.state_id),
            None,
            lane,
        )
        return [*self._letters(item, decision, whole=whole), note]

    def following(
        self, flush: Flush, decided: Mapping[int, Decision], now: int, *, whole: bool
    ) -> Iterator[Record]:
        """Return what follows the messages of a flush in place of another scheduler."""
        if not self.drop_in.is_in(flush):
            return
        for number, item in enumerate(flush.items):
            scheduler = self.drop_in.of(item)
            if scheduler is not None:
                status = decided[number].status if number in decided else Status.DONE
                message = self.message(item, now)
                yield from scheduler.after(item, message, status, whole=whole)

    def takes_no_records(self, why: str) -> str:
        """Say that one of the job's own topics fails."""
        own = [f"the dead-letter topic {self.dead_letter_topic}"]
        own += [] if self.late_topic is None else [f"the late topic {self.late_topic}"]
        own.append(f"the internal topic {self.internal_topic}")
        return (
            f"{', '.join(own)} or {self.markers_topic} takes no records: {why}; check that "
            "all exist, that this job may write there, and their max.message.bytes"
        )

    def _finished(self, record: Fields, item: Item, now: int) -> Record:
        topic, key, value, headers, partition = record
        if not item.is_message:
            return Record._make(record)
        marks, shape = self.marks.of(item, now), self.outputs.of(topic)
        if shape is not None:
            headers = shape.headers(replaced(item.chunk.headers[item.index], marks))
            if self.fire_id_header if shape.fire_id_header is None else shape.fire_id_header:
                headers.append((FIRE_ID, item.fire_id.encode()))
            value, headers = shape.wrapped(value, headers, item)
        elif marks:
            headers = replaced(headers, marks)
        return Record._make((topic, key, value, headers, partition))

    def _as_scheduled(
        self, items: Sequence[Item], late_before: int = NEVER, now: int = 0
    ) -> Iterator[Fields]:
        """Return messages as they are kept; what was due before an instant is marked as late.

        Column by column, which takes half as long as one by one.
        """
        places = [(item.chunk, item.index) for item in items]
        headers = [chunk.headers[i] for chunk, i in places]
        if self.fire_id_header:
            named = ((FIRE_ID, item.fire_id.encode()) for item in items)
            headers = [[*(given or ()), name] for given, name in zip(headers, named, strict=True)]
        if late_before > NEVER:
            late = LateMarks()
            marks = (late[late_ms(i.due, now)] if i.due < late_before else None for i in items)
            headers = [
                replaced(given, mark) if given and mark else given or mark
                for given, mark in zip(headers, marks, strict=True)
            ]
        return zip(
            [chunk.topic[i] for chunk, i in places],
            [chunk.key[i] for chunk, i in places],
            [chunk.payload[i] for chunk, i in places],
            headers,
            [chunk.to_partition[i] for chunk, i in places],
            strict=True,
        )

    def _letters(self, item: Item, decision: Decision, *, whole: bool) -> list[Record]:
        chunk, i = item.chunk, item.index
        if decision.status is Status.DEAD:
            tried = ", ".join(map(instant_text, decision.attempted_at)).encode()
            key, more = chunk.source_key[i], (ATTEMPTS, tried)
            return [_letter(self.dead_letter_topic, key, item, decision, [more], whole=whole)]
        if decision.status is Status.EXPIRED and self.late_topic is not None:
            late: Headers = [
                late_mark(item.scheduled, decision.at),
                (OUTPUT_TOPIC, chunk.topic[i].encode()),
            ]
            return [_letter(self.late_topic, chunk.key[i], item, decision, late, whole=whole)]
        return []


def _letter(
    topic: str, key: bytes | None, item: Item, decision: Decision, more: Headers, *, whole: bool
) -> Record:
    """Return a message that goes to another topic than its own, with why.

    Where even that topic takes no record so large it goes without the value, and says so.
    """
    payload = item.chunk.payload[item.index]
    headers: Headers = list(item.chunk.headers[item.index] or []) if whole else []
    headers += dead_letter_headers(decision.reason, decision.detail, item.version)
    headers += more
    if not whole:
        payload, size = None, len(payload or b"")
        headers.append((OMITTED, f"{size} bytes".encode()))
    return Record(topic, key, payload, headers)
