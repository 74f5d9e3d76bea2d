"""What the notes of a batch tell of messages that a marker says are out."""

import math

import pyarrow as pa

from pipeline.outbox.item import Item
from state.admission import versions_of
from state.row import ATTEMPT, REASON, STATUS, Status


class Notes:
    """The notes that a batch has read (state.row.OUTCOMES)."""

    def __init__(self, notes: pa.Table) -> None:
        columns = (notes[name].to_pylist() for name in (ATTEMPT, STATUS, REASON))
        self._told = {
            version: said for (_, version), *said in zip(versions_of(notes), *columns, strict=True)
        }

    def tell_of(self, item: Item) -> bool:
        """Tell whether a note is about this attempt at a message, or a later one."""
        attempt, *_ = self._told.get(item.version, (0,))
        # A note without one says how the message ended, untried.
        return (math.inf if attempt is None else attempt) > len(item.attempted_at)

    def decided(self, item: Item) -> tuple[Status, str]:
        """Return what was decided about a message that a note tells of, and why."""
        _, status, reason = self._told[item.version]
        return Status(status), reason or ""
