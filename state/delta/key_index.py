"""Finds live rows of ``schedules`` by their key: files beside the tables, mapped into memory.

They only make things quick, may be missing or old, and can be made again at any time. Each file of
``schedules`` has a part (state.delta.key_part), so a fold makes those of the files it wrote and
no others. A list of all parts bears the number of the commit it was made from. All this is made
only where somebody has asked for keys.
"""

import contextlib
import json
import logging
import os
import zlib
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
from deltalake import DeltaTable

from state.delta.key_part import (
    HALF,
    LIVE_ROW,
    PART,
    KeyPart,
    half_written,
    make_part,
    part_of,
    wanted,
)
from state.delta.layout import SCHEDULES
from state.delta.snapshot import is_live_row, read_mark
from state.delta.tables import KEYS, Tables, scannable
from state.errors import StateError

_LIST = ".json"
_ABANDONED = 3600.0  # seconds after which a file that is half written is a dead process's

log = logging.getLogger(__name__)


class KeyIndex:
    """The live rows as of one fold."""

    def __init__(self, path: Path) -> None:
        """Open the parts that a list names; ValueError or OSError when they are not there."""
        self.seq = int(path.name.removesuffix(_LIST))
        self._names = frozenset(json.loads(path.read_text()))
        self._parts = [KeyPart(path.parent / name) for name in sorted(self._names)]

    def is_of(self, table: DeltaTable) -> bool:
        """Tell whether it was made from a table as it is, and not from one of the same name."""
        return self._names == {part_of(fragment.path) for fragment in _files(scannable(table))}

    def find(self, identities: Sequence[bytes]) -> pa.Table:
        """Return the rows of these keys (LIVE_ROW), and no others."""
        asked = wanted(identities)
        found = [part.find(*asked) for part in self._parts]
        return pa.concat_tables([LIVE_ROW.empty_table(), *found])


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
    """Return the list of the newest fold."""
    if not folder.is_dir():
        return None
    return max((path for path in folder.iterdir() if path.suffix == _LIST), default=None)


def make_index(tables: Tables) -> None:
    """Make what is missing for ``schedules`` as it is now; without it things are but slower."""
    try:
        _make_index(tables)
    except (OSError, StateError, pa.ArrowException):
        log.warning("no index of keys could be made; they are looked up without", exc_info=True)


def _make_index(tables: Tables) -> None:
    folder = folder_of(tables)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    schedules = scannable(tables.open(SCHEDULES))
    files = _files(schedules)
    for fragment in files:
        make_part(schedules, fragment, folder)
    path = folder / f"{read_mark(schedules).seq:020d}{_LIST}"
    half = half_written(folder)
    half.write_text(json.dumps(sorted(part_of(fragment.path) for fragment in files)))
    half.replace(path)
    _clear(tables, folder, path)


def _files(schedules: ds.Dataset) -> list[ds.Fragment]:
    return list(schedules.get_fragments(filter=is_live_row()))


def _clear(tables: Tables, folder: Path, newest: Path) -> None:
    """Remove older lists and parts of files that are no more, but for those of a fold since."""
    if newest_file(folder) != newest:
        return
    now = {part_of(fragment.path) for fragment in _files(tables.dataset(SCHEDULES))}
    kept = {newest.name, *json.loads(newest.read_text()), *now}
    long_ago = newest.stat().st_mtime - _ABANDONED
    for other in folder.iterdir():
        with contextlib.suppress(OSError):
            old = other.suffix in (PART, _LIST) and other.name not in kept
            if old or (other.suffix == HALF and other.stat().st_mtime < long_ago):
                other.unlink()
