"""Names a version by one number, where there is room in it: a set of these is quick and small."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from state.admission import coordinates_of, places_of
from state.row import OCCURRENCE, SOURCE_OFFSET
from state.version import Coordinates

ShortName = int | Coordinates
_BITS = 16  # for the number of the partition; the rest is for the offset
_OFFSETS = 1 << (62 - _BITS)


class ShortNames:
    """Numbers the partitions as they come: names of one instance mean nothing to another."""

    def __init__(self) -> None:
        self._partitions: dict[tuple[str, int], int] = {}

    def of(self, rows: pa.Table) -> list[ShortName]:
        """Return the names of all rows; that of an occurrence, or of a huge offset, is long."""
        if rows.num_rows == 0:
            return []
        places, which = places_of(rows)
        partitions = np.array([self._number(place) for place in places], np.int64)[which]
        offsets = rows.column(SOURCE_OFFSET).to_numpy()
        long = (offsets < 0) | (offsets >= _OFFSETS) | (partitions >= 1 << _BITS)
        if OCCURRENCE in rows.schema.names:
            long |= pc.fill_null(rows.column(OCCURRENCE), 0).to_numpy() != 0
        names: list[ShortName] = (offsets << _BITS | partitions).tolist()
        if long.any():
            numbers = np.flatnonzero(long)
            for number, name in zip(numbers, coordinates_of(rows.take(numbers)), strict=True):
                names[number] = name
        return names

    def of_one(self, coordinates: Coordinates) -> ShortName:
        """Return the name of one version."""
        topic, partition, offset, occurrence = coordinates
        number = self._number((topic, partition))
        if occurrence or not 0 <= offset < _OFFSETS or number >= 1 << _BITS:
            return coordinates
        return offset << _BITS | number

    def _number(self, place: tuple[str, int]) -> int:
        return self._partitions.setdefault(place, len(self._partitions))
