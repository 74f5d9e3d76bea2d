"""Decides which commands of a micro-batch are new to the store, and which of them came too late."""

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from state.row import (
    ENTRY,
    IDENTITY,
    OCCURRENCE,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TIMESTAMP,
    SOURCE_TOPIC,
    Entry,
)
from state.version import Coordinates, Version, is_newer

_PARTITIONS = 1 << 32  # more than a topic can have
_version = partial(tuple.__new__, Version)  # three times as quick as to call it, or its _make

Marks = dict[str, dict[str, int]]  # topic, partition (as JSON has it, text), number


class HighMarks:
    """The highest number seen of each (topic, partition)."""

    def __init__(self, marks: Marks | None = None) -> None:
        self._marks = {
            (topic, int(partition)): value
            for topic, partitions in (marks or {}).items()
            for partition, value in partitions.items()
        }

    def of(self, topic: str, partition: int) -> int:
        """Return the mark, -1 where nothing was seen."""
        return self._marks.get((topic, partition), -1)

    def elsewhere(self, topic: str, partition: int) -> int:
        """Return the highest mark among the topic's other partitions, -1 without any."""
        others = (v for (t, p), v in self._marks.items() if t == topic and p != partition)
        return max(others, default=-1)

    def highest(self) -> int:
        """Return the highest mark of all, -1 without any."""
        return max(self._marks.values(), default=-1)

    def raise_to(self, topic: str, partition: int, value: int) -> None:
        """Take note of a number."""
        if value > self.of(topic, partition):
            self._marks[topic, partition] = value

    def raise_all(self, others: "HighMarks") -> None:
        """Take note of all numbers of ``others``."""
        for (topic, partition), value in others._marks.items():
            self.raise_to(topic, partition, value)

    def as_dict(self) -> Marks:
        """Return the marks in a form fit for JSON."""
        marks: Marks = {}
        for (topic, partition), value in sorted(self._marks.items()):
            marks.setdefault(topic, {})[str(partition)] = value
        return marks


def not_taken(commands: pa.Table, taken: HighMarks) -> pa.Table:
    """Keep the commands whose record lies above what was taken from its partition."""
    if commands.num_rows == 0:
        return commands
    places, where = places_of(commands)
    marks = np.array([taken.of(*place) for place in places])
    fresh = commands.column(SOURCE_OFFSET).to_numpy() > marks[where]
    return commands if fresh.all() else commands.filter(pa.array(fresh))


def raise_marks(marks: HighMarks, commands: pa.Table, column: str) -> None:
    """Raise ``marks`` to the highest number that ``column`` has in each partition."""
    if commands.num_rows == 0:
        return
    places, where = places_of(commands)
    highest = np.full(len(places), -1, dtype=np.int64)
    np.maximum.at(highest, where, commands.column(column).to_numpy())
    for place, value in zip(places, highest, strict=True):
        marks.raise_to(*place, int(value))


def places_of(rows: pa.Table) -> tuple[list[tuple[str, int]], npt.NDArray[np.int64]]:
    """Return the partitions that rows are from, and for each row the place of its own in there."""
    topic = pc.dictionary_encode(rows.column(SOURCE_TOPIC).combine_chunks())
    codes = topic.indices.to_numpy().astype(np.int64) * _PARTITIONS
    codes += rows.column(SOURCE_PARTITION).to_numpy()
    found, where = np.unique(codes, return_inverse=True)
    topics = topic.dictionary.to_pylist()
    return [(topics[code // _PARTITIONS], int(code % _PARTITIONS)) for code in found], where


def versions_of(table: pa.Table) -> list[tuple[bytes, Version]]:
    """Return identity and version of each row."""
    named = (SOURCE_TOPIC, SOURCE_PARTITION, SOURCE_OFFSET, SOURCE_TIMESTAMP)
    columns = [*(table.column(name).to_pylist() for name in named), occurrences(table)]
    versions = map(_version, zip(*columns, strict=True))
    return list(zip(table.column(IDENTITY).to_pylist(), versions, strict=True))


def coordinates_of(table: pa.Table) -> list[Coordinates]:
    """Return what names the version of each row."""
    named = (SOURCE_TOPIC, SOURCE_PARTITION, SOURCE_OFFSET)
    columns = [*(table.column(name).to_pylist() for name in named), occurrences(table)]
    return list(zip(*columns, strict=True))


def occurrences(table: pa.Table) -> list[int]:
    """Return which occurrence each row is; what is not said is what the record itself makes."""
    if OCCURRENCE not in table.schema.names:
        return [0] * table.num_rows
    return pc.fill_null(table.column(OCCURRENCE), 0).to_pylist()  # type: ignore[no-any-return]


def without_effect(
    commands: pa.Table, named: Sequence[tuple[bytes, Version]], known: Iterable[Version | None]
) -> list[bool]:
    """Tell which commands leave their identity as it is.

    They were turned away by its policy, or a newer version of it is known already.
    """
    ignored = pc.equal(commands.column(ENTRY), Entry.IGNORED.value).to_pylist()
    return [
        turned_away or (old is not None and not is_newer(version, old))
        for turned_away, (_, version), old in zip(ignored, named, known, strict=True)
    ]
