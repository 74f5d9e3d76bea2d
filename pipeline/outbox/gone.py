"""Remembers who left a lane lately, so that a command that comes too late is told so."""

from itertools import islice

import pyarrow as pa

from pipeline.outbox.item import Item, Names
from state import row
from state.version import Version, is_newer

REMEMBERED = 10_000  # messages


class Gone:
    """Who left, the newest last; not the items, which would keep their payloads in memory."""

    def __init__(self) -> None:
        self._left: dict[bytes, tuple[Names, int, int]] = {}

    def add(self, items: list[Item]) -> None:
        """Take note of messages that are out."""
        self._remember(
            {
                item.chunk.identity[item.index]: (item.chunk.names, item.index, item.due)
                for item in items[-REMEMBERED:]
            }
        )

    def add_rows(self, rows: pa.Table) -> None:
        """Take note of messages that others have published, given as claimed rows."""
        last = rows.slice(max(rows.num_rows - REMEMBERED, 0))
        names = Names(last)
        columns = (last[name].to_pylist() for name in (row.IDENTITY, row.DUE))
        self._remember(
            {
                identity: (names, index, due)
                for index, (identity, due) in enumerate(zip(*columns, strict=True))
            }
        )

    def _remember(self, left: dict[bytes, tuple[Names, int, int]]) -> None:
        self._left |= left
        if len(self._left) > 2 * REMEMBERED:  # now and then, many at a time
            for identity in list(islice(self._left, len(self._left) - REMEMBERED)):
                del self._left[identity]

    def forget(self, identity: bytes) -> None:
        """Forget an identity: what comes next is about a newer command."""
        self._left.pop(identity, None)

    def due(self, identity: bytes, version: Version) -> int | None:
        """Return the due instant of what left for ``identity`` before the newer ``version`` came.

        None where nothing left, or too long ago to be remembered.
        """
        if identity not in self._left:
            return None
        names, index, due = self._left[identity]
        return due if is_newer(version, names.version(index)) else None
