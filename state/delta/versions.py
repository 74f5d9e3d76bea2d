"""Tells which rows are of versions that are named, without looking at most of them."""

from collections.abc import Set

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from state.admission import coordinates_of
from state.row import SOURCE_OFFSET
from state.version import Coordinates


class Versions:
    """Some versions; rows with an offset that none of them has are told apart by it alone."""

    def __init__(self, versions: Set[Coordinates]) -> None:
        self._versions = versions
        self._offsets = np.unique([offset for _, _, offset, _ in versions])

    def among(self, rows: pa.Table) -> npt.NDArray[np.bool_]:
        """Tell of each row whether it is named."""
        if not self._versions or rows.num_rows == 0:
            return np.zeros(rows.num_rows, np.bool_)
        offsets = rows.column(SOURCE_OFFSET).to_numpy()
        at = np.searchsorted(self._offsets, offsets).clip(max=len(self._offsets) - 1)
        named: npt.NDArray[np.bool_] = self._offsets[at] == offsets
        places = np.flatnonzero(named)
        names = coordinates_of(rows.take(pa.array(places)))
        named[places] = [name in self._versions for name in names]
        return named
