"""Everything a fold does, from the first commit to the last file deleted."""

import time

from state.delta.fold import fold, purge
from state.delta.folded import Folded
from state.delta.key_index import is_wanted, make_index
from state.delta.tables import Tables
from state.delta.writer import FoldWriter


def fold_and_tidy(
    tables: Tables, writer: FoldWriter, now: int, keep_closed: int, vacuum_age: int | None
) -> Folded:
    """Fold, and if ``vacuum_age`` is given also purge and clean up."""
    begun = time.monotonic()
    mark = fold(tables, writer, now)
    if vacuum_age is not None:
        purge(writer, now, keep_closed)
        writer.tidy(vacuum_age)
    if is_wanted(tables):
        make_index(tables)
    return Folded(mark, time.monotonic() - begun)
