"""Brings an Arrow table into another schema, filling in what it lacks."""

from collections.abc import Mapping

import pyarrow as pa


def reshape(
    table: pa.Table, schema: pa.Schema, values: Mapping[str, object] | None = None
) -> pa.Table:
    """Return ``table`` with exactly the columns of ``schema``.

    A column comes from ``values`` (one value for all rows, or an array), else from the table, else
    it is null.
    """
    given = values or {}
    columns = [_column(table, field, given) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _column(table: pa.Table, field: pa.Field, values: Mapping[str, object]) -> pa.ChunkedArray:
    if field.name in values:
        return _filled(values[field.name], table.num_rows, field.type)
    if field.name not in table.schema.names:
        return _filled(None, table.num_rows, field.type)
    column = table.column(field.name)
    return column if column.type == field.type else column.cast(field.type)


def _filled(value: object, rows: int, kind: pa.DataType) -> pa.ChunkedArray:
    if isinstance(value, pa.ChunkedArray):
        return value if value.type == kind else value.cast(kind)
    if isinstance(value, pa.Array):
        return pa.chunked_array([value if value.type == kind else value.cast(kind)])
    if value is None:
        return pa.chunked_array([pa.nulls(rows, kind)])
    return pa.chunked_array([pa.repeat(pa.scalar(value, kind), rows)])
