"""The rows of one file of ``schedules`` in the order of their key's hash, mapped into memory.

Files of a table never change, so a part is made once, and holds for as long as its file is there.
"""

import contextlib
import uuid
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from state.columns import reshape
from state.pending import LIGHT_ROW
from state.row import HASH, IDENTITY, ROW, STATUS

PART = ".arrow"
HALF = ".half"
_NAME = b"part"
LIVE_ROW = pa.schema([*LIGHT_ROW, ROW.field(STATUS)])
_LARGE = {pa.binary(): pa.large_binary(), pa.string(): pa.large_string()}
_ROWS = pa.schema([f.with_type(_LARGE.get(f.type, f.type)) for f in LIVE_ROW])


class KeyPart:
    """Finds rows in a part."""

    def __init__(self, path: Path) -> None:
        """Open a part; ArrowInvalid if it is not whole, or was made for another file."""
        self._rows = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
        if (self._rows.schema.metadata or {}).get(_NAME) != path.name.encode():
            raise pa.ArrowInvalid(f"{path} is a part of another file")
        self._numbers: npt.NDArray[np.int64] = self._rows.column(HASH).to_numpy()

    def find(self, numbers: npt.NDArray[np.int64], identities: pa.Array) -> pa.Table:
        """Return the rows of keys (LIVE_ROW); ``numbers`` are their hashes, each once, sorted."""
        first = np.searchsorted(self._numbers, numbers, "left")
        last = np.searchsorted(self._numbers, numbers, "right")
        ranges = [np.arange(first[i], last[i]) for i in np.flatnonzero(last > first)]
        if not ranges:
            return LIVE_ROW.empty_table()
        rows = self._rows.take(pa.array(np.concatenate(ranges)))
        named = pc.is_in(rows.column(IDENTITY), identities)  # others may have the same hash
        return reshape(rows.filter(named), LIVE_ROW)


def wanted(identities: Sequence[bytes]) -> tuple[npt.NDArray[np.int64], pa.Array]:
    """Return keys as parts are asked for them."""
    numbers = np.fromiter(map(zlib.crc32, identities), np.int64, len(identities))
    return np.unique(numbers), pa.array(identities, pa.large_binary())


def part_of(path: str) -> str:
    """Return the name of the part for a file: its name is never used again."""
    return path.rsplit("/", 1)[-1].removesuffix(".parquet") + PART


def make_part(data: ds.Dataset, fragment: ds.Fragment, folder: Path) -> None:
    """Write the part for a file, unless it is there and whole."""
    path = folder / part_of(fragment.path)
    with contextlib.suppress(OSError, pa.ArrowInvalid):
        KeyPart(path)
        return
    rows = reshape(fragment.to_table(schema=data.schema, columns=_ROWS.names), _ROWS)
    order = np.argsort(rows.column(HASH).to_numpy(), kind="stable")
    named = _ROWS.with_metadata({_NAME: path.name})
    half = half_written(folder)
    with pa.OSFile(str(half), "wb") as sink, pa.ipc.new_file(sink, named) as writer:
        writer.write_table(rows.take(pa.array(order)).combine_chunks().cast(named))
    half.replace(path)


def half_written(folder: Path) -> Path:
    """Return a name that nobody else writes to: a fold may be at work beside the job, or in it."""
    return folder / f"{uuid.uuid4().hex}{HALF}"
