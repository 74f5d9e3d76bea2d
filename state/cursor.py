"""Names the orders of lists, and a place in one, so that a reader can go on from there."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from enum import StrEnum
from typing import Any, NamedTuple

from state.errors import ConfigError
from state.row import (
    CHANGED_AT,
    DUE,
    OCCURRENCE,
    OF_COMMAND,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TIMESTAMP,
    SOURCE_TOPIC,
)

# Rows due at the same instant go out in the order in which their records came.
ORDER = [DUE, SOURCE_TIMESTAMP, SOURCE_PARTITION, SOURCE_OFFSET, SOURCE_TOPIC, OCCURRENCE]


class Order(StrEnum):
    """In which order rows are listed."""

    NEXT_DUE = "next-due"  # the order of release
    LAST_DUE = "last-due"  # the same backwards
    LAST_CHANGED = "last-changed"  # what the newest batch changed first

    @property
    def instant(self) -> str:
        """The column that decides first."""
        return CHANGED_AT if self is Order.LAST_CHANGED else DUE

    @property
    def columns(self) -> list[str]:
        """The columns that decide, one after the other; no two rows are alike in all of them."""
        return [self.instant, *ORDER[1:]]

    @property
    def descends(self) -> bool:
        """Whether the greatest comes first, in every column."""
        return self is not Order.NEXT_DUE


class Cursor(NamedTuple):
    """The place of one row in an order, its values as in ``Order.columns``.

    Rows that come and go meanwhile do not disturb it: what lies after the place is what lies after
    it, whether the row that named it is still there or not.
    """

    instant: int
    timestamp: int
    partition: int
    offset: int
    topic: str
    occurrence: int
    order: Order = Order.NEXT_DUE

    @staticmethod
    def of(row: dict[str, Any], order: Order = Order.NEXT_DUE) -> "Cursor":
        """Return the place of a row."""
        return Cursor._make([*(row[name] for name in order.columns), order])

    @property
    def values(self) -> dict[str, int | str]:
        """The place, column by column."""
        return dict(zip(self.order.columns, self[:-1], strict=True))

    def to_text(self) -> str:
        """Write it for an address or a command line."""
        return urlsafe_b64encode(json.dumps(self).encode()).decode().rstrip("=")

    @staticmethod
    def from_text(text: str, name: str = "after") -> "Cursor":
        """Read what ``to_text`` wrote; ConfigError, by ``name``, for anything else."""
        try:
            *place, order = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
            cursor = Cursor._make([*place, Order(order)])
        except (ValueError, TypeError):
            cursor = None
        if cursor is None or not _is_sound(cursor):
            raise ConfigError(
                f"{name}: {text[:40]!r} is not a place in the list; give back the text that the "
                "page before came with, or leave it out to begin with the first"
            )
        return cursor


def refuse_other_order(after: Cursor | None, order: Order, name: str = "after") -> None:
    """Raise ConfigError for a place in a list of another order."""
    if after is not None and after.order is not order:
        raise ConfigError(
            f"{name}: is a place in a list ordered by {after.order}, and this one is ordered by "
            f"{order}; ask for the order of the page it came with, or leave it out to begin with "
            "the first"
        )


def _is_sound(cursor: Cursor) -> bool:
    kinds = (int, int, int, int, str, int, Order)
    if not all(type(value) is kind for value, kind in zip(cursor, kinds, strict=True)):
        return False
    large = (cursor.instant, cursor.timestamp, cursor.offset)
    return (
        all(abs(value) < 2**62 for value in large)
        and 0 <= cursor.partition < 2**31 - 1
        and OF_COMMAND <= cursor.occurrence < 2**31 - 1
        and cursor.topic.isascii()
    )
