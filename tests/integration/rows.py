"""Rows to publish."""

from typing import Any

import pyarrow as pa

from state import row
from state.row import Kind, Status


def claimed(**columns: list[Any]) -> pa.Table:
    """Rows claimed by batch 1, keyed by ``key`` and due at ``due``; other columns as given."""
    keys: list[bytes] = columns["key"]
    count = len(keys)
    filled: dict[str, list[Any]] = {
        row.IDENTITY: [b"in\x00" + key for key in keys],
        row.HASH: [0] * count,
        row.SOURCE_TOPIC: ["in"] * count,
        row.SOURCE_PARTITION: [0] * count,
        row.SOURCE_OFFSET: list(range(count)),
        row.SOURCE_TIMESTAMP: list(range(count)),
        row.KIND: [Kind.MESSAGE] * count,
        row.OUTPUT_KEY: keys,
        row.STATUS: [Status.CLAIMED] * count,
        row.CLAIM: [1] * count,
    } | columns
    empty = [None] * count
    return pa.table({name: filled.get(name, empty) for name in row.ROW.names}, schema=row.ROW)
