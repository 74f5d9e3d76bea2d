"""Finds pending rows of ``schedules`` by their key: a file beside the tables, mapped into memory.

It only makes things quick. It bears the number of the commit it was made from, may be missing or
old, and can be made again at any time. It is made only where somebody has asked for keys.
"""

import contextlib
import hashlib
import logging
import os
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from state.columns import reshape
from state.delta.layout import SCHEDULES
from state.delta.snapshot import is_live_row, read_mark
from state.delta.tables import KEYS, Tables, read, scannable
from state.errors import StateError
from state.fields import text_is
from state.pending import LIGHT_ROW, PENDING
from state.row import IDENTITY, STATUS

_NUMBER = "number"
_ENDING = ".arrow"
_MADE_FROM = b"made_from"
_LARGE = {pa.binary(): pa.large_binary(), pa.string(): pa.large_string()}
_FILE = pa.schema(
    [
        pa.field(_NUMBER, pa.uint32()),
        *(field.with_type(_LARGE.get(field.type, field.type)) for field in LIGHT_ROW),
    ]
)

log = logging.getLogger(__name__)


class KeyIndex:
    """The pending rows as of one fold, in the order of a hash of their identity."""

    def __init__(self, path: Path) -> None:
        self.seq = int(path.name.removesuffix(_ENDING))
        self._rows = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
        self._numbers = self._rows.column(_NUMBER).to_numpy()
        self._made_from = (self._rows.schema.metadata or {}).get(_MADE_FROM)

    def is_of(self, table: DeltaTable) -> bool:
        """Tell whether it was made from a table as it is, and not from one of the same name."""
        return self._made_from == _fingerprint(table)

    def find(self, identities: Sequence[bytes]) -> pa.Table:
        """Return the rows of these keys (LIGHT_ROW), and no others."""
        wanted = np.unique(numbers_of(identities))
        first = np.searchsorted(self._numbers, wanted, "left")
        last = np.searchsorted(self._numbers, wanted, "right")
        ranges = [np.arange(a, b) for a, b in zip(first, last, strict=True) if b > a]
        places = np.concatenate([np.empty(0, np.int64), *ranges])
        rows = self._rows.take(pa.array(places, pa.int64()))
        named = pc.is_in(rows.column(IDENTITY), pa.array(identities, pa.large_binary()))
        return reshape(rows.filter(named), LIGHT_ROW)


def numbers_of(identities: Sequence[bytes]) -> npt.NDArray[np.uint32]:
    """Return the hash of each identity; two that share one are told apart by their name."""
    return np.fromiter(map(zlib.crc32, identities), np.uint32, len(identities))


def folder_of(tables: Tables) -> Path:
    """Return where the file is: beside the tables, or on this machine when they are elsewhere."""
    path = tables.path.removeprefix("file://")
    if "://" not in path:
        return Path(path) / KEYS
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "duestream" / f"{KEYS}-{zlib.crc32(path.encode()):08x}"


def is_wanted(tables: Tables) -> bool:
    """Tell whether somebody has asked for keys of this state."""
    return folder_of(tables).is_dir()


def newest_file(folder: Path) -> Path | None:
    """Return the file of the newest fold."""
    if not folder.is_dir():
        return None
    return max((path for path in folder.iterdir() if path.suffix == _ENDING), default=None)


def make_index(tables: Tables) -> None:
    """Write the file anew from ``schedules`` as it is now; without it things are but slower."""
    try:
        _make_index(tables)
    except (OSError, StateError, pa.ArrowException):
        log.warning("no index of keys could be made; they are looked up without", exc_info=True)


def _make_index(tables: Tables) -> None:
    folder = folder_of(tables)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    table = tables.open(SCHEDULES)
    schedules = scannable(table)
    where = is_live_row() & text_is(STATUS, PENDING)
    rows = reshape(read(schedules, LIGHT_ROW.names, where), _FILE)
    numbers = numbers_of(rows.column(IDENTITY).to_pylist())
    order = np.argsort(numbers, kind="stable")
    rows = reshape(rows.take(pa.array(order)), _FILE, {_NUMBER: pa.array(numbers[order])})
    made_from = {_MADE_FROM: _fingerprint(table)}
    _write(rows.replace_schema_metadata(made_from), folder, read_mark(schedules).seq)


def _fingerprint(table: DeltaTable) -> bytes:
    """Name the rows of a table: its files have names that are never used again."""
    names = ",".join(sorted(uri.rsplit("/", 1)[-1] for uri in table.file_uris()))
    return hashlib.sha256(names.encode()).hexdigest().encode()


def _write(rows: pa.Table, folder: Path, seq: int) -> None:
    path = folder / f"{seq:020d}{_ENDING}"
    half = folder / f"{os.getpid()}.half"
    with pa.OSFile(str(half), "wb") as sink, pa.ipc.new_file(sink, rows.schema) as writer:
        writer.write_table(rows.combine_chunks())
    half.replace(path)
    for other in folder.iterdir():
        if other.suffix == _ENDING and other.name < path.name:
            with contextlib.suppress(OSError):
                other.unlink()
