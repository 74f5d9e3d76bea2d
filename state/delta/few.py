"""Reads few rows out of many: first only what tells which, then all of it where those rows are.

A scan reads every column it is to return for every row it looks at, payloads too. Ten million rows
are gigabytes then; the keys alone are read in a second.
"""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from state.delta.tables import broken
from state.errors import StateError

_FILE = "__filename"


def read_few(data: ds.Dataset, columns: list[str], where: pc.Expression) -> pa.Table:
    """Return the rows that match, reading whole only the parts of files that hold some."""
    empty = pa.schema([data.schema.field(name) for name in columns]).empty_table()
    try:
        found = [
            group.to_table(schema=data.schema, columns=columns, filter=where)
            for group in _groups_with(data, where)
        ]
    except OSError as error:
        raise StateError(broken(error)) from error
    return pa.concat_tables([empty, *found], promote_options="permissive")


def files_with(data: ds.Dataset, where: pc.Expression) -> ds.Dataset:
    """Return the same table, but of its files only those that hold rows that match."""
    try:
        found = data.scanner(columns=[_FILE], filter=where).to_table().column(0)
    except OSError as error:
        raise StateError(broken(error)) from error
    named = set(pc.unique(found).to_pylist())
    return _only(data, [each for each in data.get_fragments() if each.path in named])


def no_files(data: ds.Dataset) -> ds.Dataset:
    """Return the same table without any file."""
    return _only(data, [])


def _only(data: ds.Dataset, files: list[ds.Fragment]) -> ds.Dataset:
    return ds.FileSystemDataset(files, data.schema, data.format, data.filesystem)


def _groups_with(data: ds.Dataset, where: pc.Expression) -> Iterator[ds.Fragment]:
    for fragment in files_with(data, where).get_fragments():
        for group in fragment.split_by_row_group(filter=where, schema=data.schema):
            if group.scanner(schema=data.schema, filter=where).count_rows():
                yield group
