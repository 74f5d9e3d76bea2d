"""Refuses what is larger than the state store can keep of one row, before it is written."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.raw import RAW_HEADERS, RAW_VALUE, VERDICT
from pipeline.reasons import Reason
from state.row import HEADERS, IDENTITY, KEY, OUTPUT_KEY, PAYLOAD, POLICY

Sizes = npt.NDArray[np.int64]
_MESSAGE = (IDENTITY, KEY, OUTPUT_KEY, PAYLOAD, POLICY)
_HEADER = 48  # bytes that a header takes beside its name and value
_SENTENCE = (
    "the message and its headers are larger than the {largest} bytes that the state keeps of one; "
    "send less, or keep the state in Delta (state.kind). It is still where these headers say"
)


def fitting(lines: pa.Table, largest: int | None) -> pa.Table:
    """Refuse the lines that are too large; their dead letters name the record, without its value.

    A record refused for another reason and too large itself is told of in the same way.
    """
    if largest is None or lines.nbytes + _HEADER * _count_headers(lines) <= largest:
        return lines
    message = sum((_bytes(lines[name]) for name in _MESSAGE), _headers(lines[HEADERS]))
    as_it_came = _bytes(lines[KEY]) + _bytes(lines[RAW_VALUE]) + _headers(lines[RAW_HEADERS])
    too_large = pa.array(np.maximum(message, as_it_came) > largest)
    sentence = _SENTENCE.format(largest=largest)
    verdict = pa.scalar(f"{Reason.TOO_LARGE_FOR_STATE.value} {sentence}", pa.string())
    values = {VERDICT: pc.if_else(too_large, verdict, lines[VERDICT])}
    for name in (RAW_VALUE, RAW_HEADERS):
        nothing = pa.scalar(None, lines.schema.field(name).type)
        values[name] = pc.if_else(too_large, nothing, lines[name])
    for name, column in values.items():
        lines = lines.set_column(lines.schema.get_field_index(name), name, column)
    return lines


def _count_headers(lines: pa.Table) -> int:
    return sum(len(pc.list_flatten(lines[name])) for name in (HEADERS, RAW_HEADERS))


def _bytes(column: pa.ChunkedArray) -> Sizes:
    sizes: Sizes = pc.fill_null(pc.binary_length(column), 0).to_numpy().astype(np.int64)
    return sizes


def _headers(column: pa.ChunkedArray) -> Sizes:
    sizes = np.zeros(len(column), np.int64)
    pairs = pc.list_flatten(column)
    of = pc.list_parent_indices(column).to_numpy()
    for part in ("key", "value"):
        np.add.at(sizes, of, _bytes(pc.struct_field(pairs, part)) + _HEADER // 2)
    return sizes
