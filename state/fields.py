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


def bytes_begin(name: str, prefix: bytes) -> pc.Expression:
    """Tell whether a column of bytes begins with some."""
    column = pc.field(name).cast(_BYTES)
    found = column >= pa.scalar(prefix, _BYTES)
    stem = prefix.rstrip(b"\xff")
    if not stem:
        return found
    return found & (column < pa.scalar(stem[:-1] + bytes([stem[-1] + 1]), _BYTES))


def text_after(name: str, value: str) -> pc.Expression:
    """Tell whether a column of text comes after a value, in the order of its bytes."""
    return pc.field(name).cast(_TEXT) > pa.scalar(value, _TEXT)


def text_before(name: str, value: str) -> pc.Expression:
    """Tell whether a column of text comes before a value, in the order of its bytes."""
    return pc.field(name).cast(_TEXT) < pa.scalar(value, _TEXT)


def text_has(name: str, part: str) -> pc.Expression:
    """Tell whether a column of text has a part in it."""
    return pc.match_substring(pc.field(name).cast(_TEXT), part)
