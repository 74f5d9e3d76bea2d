"""Parts rows by status, kind and output topic, so that those of one part are found at once."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from state.inspector import Filter
from state.row import KIND, OUTPUT_TOPIC, STATUS

GROUPED = [STATUS, KIND, OUTPUT_TOPIC]

Codes = npt.NDArray[np.int32]
Places = npt.NDArray[np.int64]


class Groups:
    """Which group each row is in; ``names`` are status, kind and topic of each group."""

    def __init__(self, rows: pa.Table) -> None:
        parts = [_encoded(rows.column(name)) for name in GROUPED]
        mixed = np.zeros(rows.num_rows, np.int64)
        for numbers, values in parts:
            mixed = mixed * len(values) + numbers
        found, codes = np.unique(mixed, return_inverse=True)
        self.codes: Codes = codes.astype(np.int32)
        self.names = [_named(int(each), [values for _, values in parts]) for each in found]
        self._places: Places = np.argsort(self.codes, kind="stable")
        self._ends = np.cumsum(np.bincount(self.codes, minlength=len(self.names)))

    def wanted(self, where: Filter) -> npt.NDArray[np.bool_]:
        """Tell of each group whether a filter wants it."""
        return np.array([_is_wanted(name, where) for name in self.names], bool)

    def places(self, wanted: npt.NDArray[np.bool_], most: int) -> Places | None:
        """Return where the rows of some groups are, in order; None if they are more than that."""
        chosen = np.flatnonzero(wanted)
        begins = np.concatenate([[0], self._ends])[:-1]
        if int((self._ends[chosen] - begins[chosen]).sum()) > most:
            return None
        slices = [self._places[begins[each] : self._ends[each]] for each in chosen]
        return np.sort(np.concatenate([np.empty(0, np.int64), *slices]), kind="stable")

    def bounds(
        self, wanted: npt.NDArray[np.bool_], first: int, last: int, absent: npt.NDArray[np.bool_]
    ) -> Iterator[tuple[int, int, int, int]]:
        """Yield code, count, first and last place of each group that has rows between two places.

        What this costs are the groups, and the rows that are absent.
        """
        missing = np.bincount(
            self.codes[first + np.flatnonzero(absent[first:last])], minlength=len(self.names)
        )
        begins = np.concatenate([[0], self._ends])
        for code in np.flatnonzero(wanted):
            places = self._places[begins[code] : self._ends[code]]
            low, high = np.searchsorted(places, [first, last])
            count = int(high - low - missing[code])
            if count:
                there = _outermost(places[low:high], absent)
                yield int(code), count, *there

    def columns(self, codes: Sequence[int]) -> Iterator[tuple[str, pa.Array]]:
        """Yield status, kind and topic of some groups."""
        for place, name in enumerate(GROUPED):
            yield name, pa.array([self.names[code][place] for code in codes], pa.string())


def _outermost(places: Places, absent: npt.NDArray[np.bool_]) -> tuple[int, int]:
    low, high = 0, len(places) - 1
    while absent[places[low]]:
        low += 1
    while absent[places[high]]:
        high -= 1
    return int(places[low]), int(places[high])


def _encoded(column: pa.ChunkedArray) -> tuple[Codes, list[str | None]]:
    """Return a number for each value, and what the numbers stand for; the last for null."""
    encoded = column.combine_chunks().dictionary_encode()
    values: list[str | None] = [*encoded.dictionary.to_pylist(), None]
    numbers: Codes = encoded.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False)
    return numbers, values


def _named(mixed: int, values: list[list[str | None]]) -> tuple[str | None, ...]:
    names: list[str | None] = []
    for each in reversed(values):
        mixed, place = divmod(mixed, len(each))
        names.append(each[place])
    return tuple(reversed(names))


def _is_wanted(name: tuple[str | None, ...], where: Filter) -> bool:
    status, kind, topic = name
    return (
        (where.statuses is None or status in where.statuses)
        and (where.kind is None or kind == where.kind)
        and (where.output_topic is None or topic == where.output_topic)
    )
