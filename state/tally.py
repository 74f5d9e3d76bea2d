"""Counts rows by some of their columns and by spans of time, a part at a time."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from state.columns import reshape
from state.row import ROW

INSTANT = "instant"  # the begin of a span
COUNT = "count"
FIRST = "first"
LAST = "last"

_FIGURES = {COUNT: "sum", FIRST: "min", LAST: "max"}


class Tally:
    """Counts what it is given; it holds one line for each group, however many rows there are."""

    def __init__(self, by: Sequence[str], every: int | None, of: str) -> None:
        self.columns = list(dict.fromkeys([*by, of]))  # what it must be given of each row
        self.by, self.every, self.of = by, every, of
        self._names = [*by, *([INSTANT] if every is not None else [])]
        kinds = [ROW.field(n) if n in ROW.names else pa.field(n, pa.int64()) for n in self._names]
        figures = [pa.field(name, pa.int64()) for name in _FIGURES]
        self._schema = pa.schema([*kinds, *figures])
        self._counted = self._schema.empty_table()

    def add(self, rows: pa.Table) -> None:
        """Count rows."""
        of = rows.column(self.of)
        values: dict[str, object] = {COUNT: 1, FIRST: of, LAST: of}
        if self.every is not None:
            values[INSTANT] = pa.array(spans(of, self.every))
        self.merge(reshape(rows, self._schema, values))

    def merge(self, counted: pa.Table) -> None:
        """Add what was counted elsewhere, in the columns of the result."""
        both = pa.concat_tables([self._counted, reshape(counted, self._schema)])
        if both.num_rows:
            found = both.group_by(self._names).aggregate(list(_FIGURES.items()))
            columns = [*self._names, *(f"{name}_{how}" for name, how in _FIGURES.items())]
            renamed = found.select(columns).rename_columns(self._schema.names)
            self._counted = reshape(renamed, self._schema)

    def table(self) -> pa.Table:
        """Return the counts, ordered by what they are counted by."""
        order = [(name, "ascending") for name in self._names]
        return self._counted.sort_by(order) if order else self._counted


def spans(instants: pa.ChunkedArray, every: int) -> npt.NDArray[np.int64]:
    """Return the begin of the span that each instant lies in."""
    numbers = np.asarray(instants.to_numpy(), np.int64)
    return numbers - numbers % every  # numpy's remainder is never negative
