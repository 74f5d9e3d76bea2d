"""Tells which identities of a micro-batch need thought: commands, and policies for the same key.

Of all others the newest line counts, whatever is pending.
"""

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.raw import CONTROL
from state.row import ENTRY, IDENTITY, POLICY, Entry

_OF_KEYS = pa.array([Entry.PUT.value, Entry.CANCEL.value, CONTROL], pa.string())
_ASKS = '"same":'  # as state.rules.policy writes it


def is_special(lines: pa.Table) -> pa.ChunkedArray:
    """Tell of each line whether its identity has one that needs thought."""
    control = pc.equal(lines[ENTRY], CONTROL)
    asks = pc.fill_null(pc.match_substring(lines[POLICY], _ASKS), False)
    of_keys = pc.is_in(lines[ENTRY], _OF_KEYS)
    put = pc.equal(lines[ENTRY], Entry.PUT.value)
    marked = pc.or_(control, pc.and_(put, asks))
    if not pc.any(marked).as_py():
        return marked
    identities = pc.unique(lines[IDENTITY].filter(marked))
    same_key = pc.is_in(lines[IDENTITY], identities, skip_nulls=True)
    return pc.or_(control, pc.and_(of_keys, same_key))
