"""Names a place in the order of rows, so that a reader can go on from there."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any, NamedTuple

from state.errors import ConfigError
from state.row import (
    DUE,
    OCCURRENCE,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TIMESTAMP,
    SOURCE_TOPIC,
)

# Rows due at the same instant go out in the order in which their records came.
ORDER = [DUE, SOURCE_TIMESTAMP, SOURCE_PARTITION, SOURCE_OFFSET, SOURCE_TOPIC, OCCURRENCE]


class Cursor(NamedTuple):
    """The place of one row, its values in the order of ORDER.

    Rows that come and go meanwhile do not disturb it: what lies after the place is what lies after
    it, whether the row that named it is still there or not.
    """

    due: int
    timestamp: int
    partition: int
    offset: int
    topic: str
    occurrence: int

    @staticmethod
    def of(row: dict[str, Any]) -> "Cursor":
        """Return the place of a row."""
        return Cursor(*(row[name] for name in ORDER))

    def to_text(self) -> str:
        """Write it for an address or a command line."""
        return urlsafe_b64encode(json.dumps(self).encode()).decode().rstrip("=")

    @staticmethod
    def from_text(text: str) -> "Cursor":
        """Read what ``to_text`` wrote; ConfigError for anything else."""
        try:
            read = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
            cursor = Cursor(*read)
        except (ValueError, TypeError):
            cursor = None
        if cursor is None or not _is_sound(cursor):
            raise ConfigError(
                f"after: {text[:40]!r} is not a place in the list; give back the text that the "
                "page before came with, or leave it out to begin with the first"
            )
        return cursor


def _is_sound(cursor: Cursor) -> bool:
    kinds = (int, int, int, int, str, int)
    return all(type(value) is kind for value, kind in zip(cursor, kinds, strict=True))
