"""Sorts the lines of one micro-batch into what the store and the outbox need of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.outbox.note import read_notes
from pipeline.special import is_special
from state import row
from state.admission import HighMarks, raise_marks
from state.row import Entry
from state.version import Version

Read = Callable[[], pa.Table]  # runs a micro-batch and returns its lines

_OF_KEYS = pa.array([Entry.PUT, Entry.CANCEL], pa.string())
_COMMANDS = pa.array([Entry.PUT, Entry.CANCEL, Entry.REJECT], pa.string())


@dataclass(frozen=True, slots=True)
class Said:
    """All that a micro-batch says."""

    now: int  # the batch's time, the same when the batch is replayed
    commands: pa.Table  # one per identity, and rejections
    special: pa.Table  # of identities that need thought, as TIMED_COMMANDS has them
    notes: pa.Table  # as outcomes

    @property
    def count(self) -> int:
        """How many commands it holds."""
        return len(self.commands) + len(self.special)

    def taken(self) -> HighMarks:
        """Return how far the batch has read each input partition, as far as its commands tell."""
        marks = HighMarks()
        for lines in (self.commands, self.special):
            raise_marks(marks, lines, row.SOURCE_OFFSET)
        return marks


def identities(commands: pa.Table) -> Iterator[tuple[bytes, int, Version, Entry, int]]:
    """Yield whom each put and cancel is about: identity, its hash, the version, the entry.

    And how many puts before it in the same batch it has passed over.
    """
    wanted = commands.filter(pc.is_in(commands[row.ENTRY], _OF_KEYS))
    columns = (
        wanted[name].to_pylist()
        for name in (
            row.IDENTITY,
            row.HASH,
            row.SOURCE_TOPIC,
            row.SOURCE_PARTITION,
            row.SOURCE_OFFSET,
            row.SOURCE_TIMESTAMP,
            row.ENTRY,
            row.SUPERSEDED,
        )
    )
    for identity, number, topic, partition, offset, timestamp, entry, superseded in zip(
        *columns, strict=True
    ):
        version = Version(topic, partition, offset, timestamp)
        yield identity, number, version, Entry(entry), superseded or 0


def said_in(lines: pa.Table, state_id: str) -> Said:
    """Read the lines of a batch; there is always one, be it the clock's."""
    entries, special = lines[row.ENTRY], is_special(lines)
    plain = pc.and_(pc.is_in(entries, _COMMANDS), pc.invert(special))
    commands = lines.filter(plain).select(row.COMMANDS.names)
    notes = lines.filter(pc.equal(entries, Entry.NOTE))[row.PAYLOAD].to_pylist()
    return Said(
        lines[row.BATCH_TIME][0].as_py(),
        commands.cast(row.COMMANDS),
        lines.filter(special),
        read_notes(notes, state_id),
    )
