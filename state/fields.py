"""Names text and binary columns in Arrow expressions so that any file can be searched by them."""

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

# A MERGE of delta-rs writes view types, and Arrow has no kernel that compares a file's statistics
# of such a type with a plain value. Behind a cast the statistics are left alone.
_TEXT = pa.large_string()
_BYTES = pa.large_binary()


def text_is(name: str, value: str) -> pc.Expression:
    """Compare a column of text."""
    return pc.field(name).cast(_TEXT) == pa.scalar(value, _TEXT)


def text_in(name: str, values: Iterable[str]) -> pc.Expression:
    """Look a column of text up in a set."""
    return pc.field(name).cast(_TEXT).isin(pa.array(list(values), _TEXT))


def bytes_are(name: str, value: bytes) -> pc.Expression:
    """Compare a column of bytes."""
    return pc.field(name).cast(_BYTES) == pa.scalar(value, _BYTES)


def bytes_in(name: str, values: pa.Array) -> pc.Expression:
    """Look a column of bytes up in a set."""
    return pc.field(name).cast(_BYTES).isin(values.cast(_BYTES))
