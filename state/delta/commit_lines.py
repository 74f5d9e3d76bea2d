"""Puts the lines of one commit together."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from state.columns import reshape
from state.lines import LINE, LINES, SEQ
from state.row import SUPERSEDED


def numbered(lines: pa.Table, seq: int, first: int) -> pa.Table:
    """Give lines their commit and their places in the changelog."""
    places = pa.array(np.arange(first, first + lines.num_rows))
    return reshape(lines, LINES, {SEQ: seq, LINE: places})


def fresh_puts_only(claimed: pa.Table, last_line: int) -> pa.Table:
    """Clear the mark of a put from rows that were put by an earlier commit."""
    fresh = pc.greater(claimed.column(LINE), last_line)
    superseded = pc.if_else(fresh, claimed.column(SUPERSEDED), pa.scalar(None, pa.int32()))
    return claimed.set_column(
        claimed.schema.get_field_index(SUPERSEDED), LINES.field(SUPERSEDED), superseded
    )


def without_claimed_puts(said: pa.Table, claims: pa.Table) -> pa.Table:
    """Leave out puts that are claimed at once: the claim is written in their place."""
    puts = pc.is_valid(claims.column(SUPERSEDED))
    written_as_claims = pc.filter(claims.column(LINE), puts)
    if len(written_as_claims) == 0:
        return said
    return said.filter(pc.invert(pc.is_in(said.column(LINE), written_as_claims.combine_chunks())))
