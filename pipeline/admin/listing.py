"""Lists messages a page at a time, by what somebody asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from state.cursor import Order, refuse_other_order
from state.inspect import Cursor, Filter, Inspector
from state.row import HEADERS, OUTPUT_KEY, PARKED, PAYLOAD, ROW, Kind, Status

Row = dict[str, Any]

MOST = 500  # rows of a page
# What a list needs of each row; without the heaviest columns a page comes from memory.
LIGHT = [name for name in ROW.names if name not in (PAYLOAD, HEADERS, OUTPUT_KEY)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which messages, in which order, from where on; what is left None does not narrow it.

    What is paused is due at no instant: a range of due leaves it out.
    """

    statuses: frozenset[Status] | None = None
    topic: str | None = None  # where they go
    source: str | None = None  # the input topic they came from
    key: bytes | None = None
    key_prefix: bytes | None = None
    due_from: int | None = None  # microseconds, inclusive
    due_to: int | None = None  # exclusive
    repeating: bool = False  # True: only what repeats
    paused: bool | None = None
    order: Order = Order.NEXT_DUE
    cursor: str | None = None  # ``next`` of the page before
    limit: int = 50
    kind: Kind | None = Kind.MESSAGE

    def filter(self) -> Filter:
        """Return the same as a question to the state; ConfigError for a cursor that is none."""
        due_from, due_to = self._due()
        return Filter(
            statuses=self.statuses,
            output_topic=self.topic,
            source_topic=self.source,
            key=self.key,
            key_prefix=self.key_prefix,
            due_from=due_from,
            due_to=due_to,
            repeating=self.repeating,
            order=self.order,
            after=self._after(),
            limit=self.limit + 1,
            kind=self.kind,
        )

    def _after(self) -> Cursor | None:
        after = None if self.cursor is None else Cursor.from_text(self.cursor, "cursor")
        refuse_other_order(after, self.order, "cursor")
        return after

    def _due(self) -> tuple[int | None, int | None]:
        if self.paused is None:
            return self.due_from, self.due_to
        if self.paused:
            return max(self.due_from or PARKED, PARKED), self.due_to
        return self.due_from, min(self.due_to or PARKED, PARKED)


class Listed(NamedTuple):
    """Rows with their values as they are kept, and where the next page begins."""

    rows: list[Row]
    next: str | None


def listed(state: Inspector, asked: Asked, columns: Sequence[str] | None = None) -> Listed:
    """Return one page; rows that come and go meanwhile neither shift it nor show up twice.

    With ``columns``, such as LIGHT, rows have these only.
    """
    found = state.rows(asked.filter(), columns).to_pylist()
    rows = found[: asked.limit]
    more = len(found) > asked.limit
    return Listed(rows, Cursor.of(rows[-1], asked.order).to_text() if more else None)
