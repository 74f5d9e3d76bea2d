"""Reads the lines that a changelog has got since the last look, from its new files alone."""

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable
from deltalake.fs import DeltaStorageHandler
from pyarrow.fs import PyFileSystem

from state.columns import reshape
from state.delta.current import TAIL
from state.delta.tables import broken
from state.errors import StateError
from state.lines import LINE, LINES, SEQ

_TAIL = pa.schema([LINES.field(name) for name in TAIL])


class TailFiles:
    """Remembers which files were read; to open all of them anew costs more with each commit."""

    def __init__(self, changelog: DeltaTable, options: dict[str, str]) -> None:
        self._files = PyFileSystem(DeltaStorageHandler(changelog.table_uri, options))
        self._seen: frozenset[str] = frozenset()

    def read(self, changelog: DeltaTable, after: int) -> pa.Table:
        """Return the lines (TAIL) of all commits after one, in order."""
        there = frozenset(uri.rsplit("/", 1)[-1] for uri in changelog.file_uris())
        try:
            parts = [self._lines(name, after) for name in sorted(there - self._seen)]
        except OSError as error:
            raise StateError(broken(error)) from error
        self._seen = there
        return pa.concat_tables([_TAIL.empty_table(), *parts]).sort_by(LINE)

    def _lines(self, name: str, after: int) -> pa.Table:
        lines = pq.read_table(name, filesystem=self._files, columns=TAIL)
        return reshape(lines.filter(pc.field(SEQ) > after), _TAIL)
