"""Finds rows by a number that was made of a name; two names may share one."""

import zlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Places = npt.NDArray[np.int64]
_NAMELESS = -1


class Hashes:
    """The places of rows in the order of their numbers."""

    def __init__(self, numbers: Places) -> None:
        self._places: Places = np.argsort(numbers, kind="stable")
        self._numbers = numbers[self._places]

    def places(self, names: Iterable[bytes]) -> Places:
        """Return where rows may be that bear one of these names, in order."""
        wanted = np.array(sorted({zlib.crc32(name) for name in names}), np.int64)
        first = np.searchsorted(self._numbers, wanted, "left")
        last = np.searchsorted(self._numbers, wanted, "right")
        ranges = [np.arange(a, b) for a, b in zip(first, last, strict=True) if b > a]
        return np.sort(self._places[np.concatenate([np.empty(0, np.int64), *ranges])])


def numbers_of(names: pa.ChunkedArray) -> Places:
    """Return the number of each name."""
    made = (_NAMELESS if each is None else zlib.crc32(each) for each in names.to_pylist())
    return np.fromiter(made, np.int64, len(names))
