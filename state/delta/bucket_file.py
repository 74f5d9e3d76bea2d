"""Writes the rows of one bucket of ``schedules`` to files, a bounded part of them at a time."""

import json
import time
import uuid

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake.transaction import AddAction
from pyarrow.fs import FileSystem, SubTreeFileSystem

from state.columns import reshape
from state.delta.layout import BUCKET, SCHEDULES
from state.select import by_due

_MEMORY = 64_000_000  # bytes of rows that are put in order and written at once
_FILE = 100_000_000  # bytes after which another file is begun; joining files stops there too
_GROUP_ROWS = 32_768
_GROUP = 16_000_000  # bytes
_COLUMNS = pa.schema([field for field in SCHEDULES.schema if field.name != BUCKET])


class BucketFiles:
    """The new files of one bucket, and what a commit says of them."""

    def __init__(self, files: FileSystem, bucket: str) -> None:
        self._files = files
        self._bucket = bucket
        self._waiting: list[pa.Table] = []
        self._bytes = 0
        self._open: _OpenFile | None = None
        self.added: list[AddAction] = []

    def write(self, rows: pa.Table) -> None:
        """Take in rows; they are written once there are enough of them."""
        if rows.num_rows:
            self._waiting.append(reshape(rows, _COLUMNS))
            self._bytes += rows.nbytes
        if self._bytes >= _MEMORY:
            self._flush()

    def close(self) -> None:
        """Write what is left."""
        self._flush()
        self._end()

    def _flush(self) -> None:
        if not self._waiting:
            return
        rows = by_due(pa.concat_tables(self._waiting))
        self._waiting, self._bytes = [], 0
        if self._open is None:
            self._open = _OpenFile(self._files, self._bucket)
        self._open.write(rows)
        if self._open.size >= _FILE:
            self._end()

    def _end(self) -> None:
        if self._open is not None:
            self.added.append(self._open.close())
            self._open = None


class _OpenFile:
    """One file, with the statistics of what is in it."""

    def __init__(self, files: FileSystem, bucket: str) -> None:
        folder = f"{BUCKET}={bucket}"
        if isinstance(files, SubTreeFileSystem):  # an object store has no folders
            files.create_dir(folder)
        self._path = f"{folder}/part-00000-{uuid.uuid4()}-c000.zstd.parquet"
        self._bucket = bucket
        self._sink = files.open_output_stream(self._path)
        self._writer = pq.ParquetWriter(self._sink, _COLUMNS, compression="zstd")
        self._rows = 0
        self._nulls = dict.fromkeys(SCHEDULES.statistics, 0)
        self._least: dict[str, object] = {}
        self._greatest: dict[str, object] = {}

    @property
    def size(self) -> int:
        """How many bytes it has by now."""
        return int(self._sink.tell())

    def write(self, rows: pa.Table) -> None:
        """Append rows."""
        fitting = _GROUP * rows.num_rows // max(rows.nbytes, 1)
        self._writer.write_table(rows, max(1, min(_GROUP_ROWS, fitting)))
        self._rows += rows.num_rows
        for name in self._nulls:
            self._watch(name, rows.column(name))

    def close(self) -> AddAction:
        """End the file; return the words that make it a part of the table."""
        self._writer.close()
        size = self.size
        self._sink.close()
        statistics = {
            "numRecords": self._rows,
            "minValues": self._least,
            "maxValues": self._greatest,
            "nullCount": self._nulls,
        }
        now = int(time.time() * 1000)
        named = {BUCKET: self._bucket}
        return AddAction(self._path, size, named, now, True, json.dumps(statistics))

    def _watch(self, name: str, column: pa.ChunkedArray) -> None:
        self._nulls[name] += column.null_count
        bounds = pc.min_max(column).as_py()
        if bounds["min"] is None:
            return
        self._least[name] = min(self._least.get(name, bounds["min"]), bounds["min"])
        self._greatest[name] = max(self._greatest.get(name, bounds["max"]), bounds["max"])
