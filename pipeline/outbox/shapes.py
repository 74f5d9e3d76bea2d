"""How the messages of an output topic look: headers added and taken away, and the envelope."""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from pipeline.outbox.envelope import (
    MOST_GROWTH,
    ROOM,
    attributes_of,
    binary_headers,
    structured_headers,
    structured_value,
)
from pipeline.outbox.headers import Headers, replaced, without
from pipeline.outbox.item import Chunk, Item

Envelope = Literal["raw", "binary", "structured"]
Content = tuple[bytes | None, Headers]  # value and headers


@dataclass(frozen=True, slots=True)
class TopicShape:
    """What is done to the messages of one topic."""

    add: tuple[tuple[str, bytes], ...] = ()
    strip: frozenset[str] = frozenset()
    envelope: Envelope = "raw"
    fire_id_header: bool | None = None  # None: as everywhere

    def headers(self, headers: Headers | None) -> Headers:
        """Return the headers without those to strip and with those to add."""
        return replaced(without(headers, self.strip), list(self.add))

    def wrapped(self, value: bytes | None, headers: Headers, item: Item) -> Content:
        """Return value and headers in the envelope; a null value deletes a key, and has none."""
        if self.envelope == "raw" or value is None:
            return value, headers
        attributes = attributes_of(item, item.chunk.key[item.index])
        if self.envelope == "binary":
            return value, binary_headers(headers, attributes)
        return structured_value(value, headers, attributes), structured_headers(headers)

    def at_most(self, size: int) -> int:
        """Return a size that no message of ``size`` bytes exceeds in this shape."""
        added = sum(len(name) + len(value) for name, value in self.add)
        growth = {"raw": 1, "binary": 2, "structured": MOST_GROWTH}[self.envelope]
        return (size + added) * growth + ROOM


class OutputShapes:
    """The shapes of all topics, by name or pattern: the first that matches counts."""

    def __init__(self, shapes: Iterable[tuple[str, TopicShape]] = ()) -> None:
        self._shapes = list(shapes)
        self._known: dict[str, TopicShape | None] = {}

    def of(self, topic: str) -> TopicShape | None:
        """Return the shape of a topic; None: its messages stay as they are."""
        if topic not in self._known:
            found = (shape for pattern, shape in self._shapes if fnmatchcase(topic, pattern))
            self._known[topic] = next(found, None)
        return self._known[topic]

    def touch(self, chunk: Chunk) -> bool:
        """Tell whether a message of the hand-over goes to a topic that has a shape."""
        return bool(self._shapes) and any(self.of(topic) for topic in chunk.traits.topics)
