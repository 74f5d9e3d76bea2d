"""Everything a fold does, from the first commit to the last file deleted."""

from state.delta.fold import fold, purge
from state.delta.key_index import is_wanted, make_index
from state.delta.tables import Tables
from state.delta.writer import FoldWriter


def fold_and_tidy(
    tables: Tables, writer: FoldWriter, now: int, keep_closed: int, vacuum_age: int | None
) -> int:
    """Fold, and if ``vacuum_age`` is given also purge and clean up; return the newest folded."""
    folded = fold(tables, writer, now)
    if vacuum_age is not None:
        purge(writer, now, keep_closed)
        writer.tidy(vacuum_age)
    if is_wanted(tables):
        make_index(tables)
    return folded
