"""Holds the claimed rows until an outcome names them, and remembers lately which were closed."""

from collections.abc import Iterable, Set
from itertools import repeat

import pyarrow as pa

from state.admission import coordinates_of
from state.delta.balance import other_kinds
from state.delta.short_names import ShortName, ShortNames
from state.row import CLAIM, ROW
from state.select import by_due
from state.version import Coordinates


class Outstanding:
    """Claimed rows by version; the rows stay in the tables they came in."""

    def __init__(self, rows: pa.Table) -> None:
        self.names = ShortNames()
        self._places: dict[ShortName, tuple[pa.Table, int]] = {}
        self.others: set[Coordinates] = set()  # those that are no messages
        self.add(rows)

    def __contains__(self, coordinates: Coordinates) -> bool:
        return self.names.of_one(coordinates) in self._places

    def add(self, rows: pa.Table) -> None:
        """Take in rows that were claimed."""
        places = zip(repeat(rows), range(rows.num_rows), strict=False)
        self._places.update(zip(self.names.of(rows), places, strict=True))
        self.others |= other_kinds(rows)

    def row(self, coordinates: Coordinates) -> pa.Table | None:
        """Return a claimed row."""
        place = self._places.get(self.names.of_one(coordinates))
        return None if place is None else place[0].slice(place[1], 1)

    def holds(self, named: Set[ShortName]) -> bool:
        """Tell whether all of these are claimed."""
        return self._places.keys() >= named

    def remove(self, ended: pa.Table) -> list[ShortName]:
        """Let go of rows that outcomes have named; return the names."""
        named = self.names.of(ended)
        for name in named:
            self._places.pop(name, None)
        if self.others:
            self.others.difference_update(coordinates_of(ended))
        return named

    def rows(self) -> pa.Table:
        """Return all claimed rows, ordered by due."""
        by_table: dict[int, tuple[pa.Table, list[int]]] = {}
        for table, i in self._places.values():
            by_table.setdefault(id(table), (table, []))[1].append(i)
        parts = [table.take(pa.array(places)) for table, places in by_table.values()]
        return by_due(pa.concat_tables([ROW.empty_table(), *parts]))

    def of(self, batch: int) -> pa.Table:
        """Return the rows that one batch claimed, ordered by due."""
        rows = self.rows()
        return rows.filter(pa.compute.equal(rows.column(CLAIM), batch))


class Closed:
    """Versions closed since the last fold but one: True where a later outcome may correct it.

    Their names are those of the store's claimed rows.
    """

    def __init__(self) -> None:
        self._new: dict[ShortName, bool] = {}
        self._old: dict[ShortName, bool] = {}

    def add(self, versions: Iterable[tuple[ShortName, bool]]) -> None:
        """Take note of closed versions, and of each whether that may be corrected."""
        self._new.update(versions)

    def remove(self, named: Iterable[ShortName]) -> None:
        """Forget versions that are pending again."""
        for name in named:
            self._new.pop(name, None)
            self._old.pop(name, None)

    def is_final(self, name: ShortName) -> bool:
        """Tell whether a version is known to be closed for good."""
        unsure = self._new.get(name, self._old.get(name))
        return unsure is False

    def folded(self) -> None:
        """Let go of the older half."""
        self._old, self._new = self._new, {}
