"""Finds the keys whose pending messages match a choice, each with the version that is pending."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from pipeline.commands import version_text
from pipeline.dead import version_of
from pipeline.paused import instant_of
from state.inspect import Filter, Inspector
from state.row import (
    DUE,
    HEADERS,
    KEY,
    LIVE,
    OCCURRENCE,
    PARKED,
    SCHEDULED,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TIMESTAMP,
    SOURCE_TOPIC,
)
from state.version import Version, is_newer

_LOOKED_AT = [
    KEY,
    HEADERS,
    DUE,
    SCHEDULED,
    SOURCE_TOPIC,
    SOURCE_PARTITION,
    SOURCE_OFFSET,
    SOURCE_TIMESTAMP,
    OCCURRENCE,
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which messages are meant; what is left out does not narrow the choice."""

    topic: str | None = None  # where they are to go
    source: str | None = None  # the input topic they came from
    key_prefix: bytes | None = None
    due_from: int | None = None  # microseconds, inclusive
    due_to: int | None = None  # exclusive
    headers: Mapping[str, bytes] = field(default_factory=dict)  # all of them

    def takes(self, row: dict[str, Any]) -> bool:
        """Tell whether a row for the topic is meant; a paused one was due at another time."""
        key, due = row[KEY] or b"", instant_of(row)
        has = {header["key"]: header["value"] for header in row[HEADERS] or []}
        return (
            self.source in (None, row[SOURCE_TOPIC])
            and key.startswith(self.key_prefix or b"")
            and (self.due_from is None or due >= self.due_from)
            and (self.due_to is None or due < self.due_to)
            and all(has.get(name) == value for name, value in self.headers.items())
        )


class Chosen(NamedTuple):
    """A key, the input topic that knows it, and the version that was pending when looked at."""

    source: str
    key: bytes
    version: str


def choose(inspector: Inspector, choice: Choice) -> list[Chosen]:
    """Return each key once, the next due first."""
    newest: dict[tuple[str, bytes], Version] = {}
    for row in _rows(inspector, choice):
        name, version = (row[SOURCE_TOPIC], row[KEY]), version_of(row)
        if choice.takes(row) and is_newer(version, newest.get(name)):
            newest[name] = version
    return [
        Chosen(source, key, version_text(version.partition, version.offset))
        for (source, key), version in newest.items()
    ]


def _rows(inspector: Inspector, choice: Choice) -> Iterator[dict[str, Any]]:
    """Yield what may be meant; where a time is given, what is paused is looked up beside it."""
    where = Filter(statuses=LIVE, output_topic=choice.topic)
    timed = replace(where, due_from=choice.due_from, due_to=choice.due_to)
    yield from inspector.rows(timed).select(_LOOKED_AT).to_pylist()
    if choice.due_to is not None:
        paused = replace(where, due_from=PARKED)
        yield from inspector.rows(paused).select(_LOOKED_AT).to_pylist()
