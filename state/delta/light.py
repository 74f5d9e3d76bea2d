"""Holds rows without their payloads in memory, in order, and finds or counts some of a million."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from state.admission import coordinates_of
from state.cursor import ORDER, Cursor, Order
from state.delta.light_groups import GROUPED, Groups
from state.delta.light_hashes import Hashes, numbers_of
from state.inspector import Filter
from state.lines import SEQ
from state.row import (
    CHANGED_AT,
    DUE,
    HASH,
    IDENTITY,
    KEY,
    KIND,
    OUTPUT_KEY,
    OUTPUT_TOPIC,
    PAYLOAD,
    POLICY,
    ROW,
    STATUS,
)
from state.select import expression
from state.tally import COUNT, FIRST, INSTANT, LAST, Tally
from state.version import Coordinates

Places = npt.NDArray[np.int64]
Marked = npt.NDArray[np.bool_]

# All columns but the heaviest. Headers are there of dead rows only: they say why a record was
# refused, once its dead letter is out.
LIGHT = pa.schema(
    [
        *(field for field in ROW if field.name not in (PAYLOAD, OUTPUT_KEY)),
        pa.field(SEQ, pa.int64()),
    ]
)
_ASKED = [*ORDER, IDENTITY, KEY, KIND, OUTPUT_TOPIC, POLICY, STATUS, CHANGED_AT]
_FEW, _MANY = 512, 65_536  # rows looked at in a step


class LightRows:
    """Rows (LIGHT) that never change, in ascending order.

    Each question says which of them are ``absent``: those that do not stand any more.
    """

    def __init__(self, rows: pa.Table, order: Order) -> None:
        places = pc.sort_indices(rows, sort_keys=[(name, "ascending") for name in order.columns])
        self.rows = rows.take(places)
        self.order = order
        self._instants = self.rows.column(order.instant).to_numpy()
        self._groups = Groups(self.rows)
        self._identities = Hashes(self.rows.column(HASH).to_numpy())
        self._keys = Hashes(numbers_of(self.rows.column(KEY)))

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    def of_identities(self, identities: Sequence[bytes]) -> Places:
        """Return where the rows of some keys are."""
        places = self._identities.places(identities)
        found = self.rows.column(IDENTITY).take(pa.array(places))
        named: Marked = pc.is_in(found, pa.array(identities, pa.binary())).to_numpy()
        return places[named]

    def names_at(self, places: Places) -> list[Coordinates]:
        """Return which versions some rows are."""
        return coordinates_of(self.rows.take(pa.array(places)))

    def find(self, where: Filter, absent: Marked, columns: list[str] | None = None) -> pa.Table:
        """Return the rows that match, in no order; with a limit at least those that come first."""
        names = self.rows.schema.names if columns is None else columns
        source = self.rows.select(list(dict.fromkeys([*names, *_ASKED])))
        wanted, count, found = expression(where), 0, [source.schema.empty_table()]
        for places in self._candidates(where):
            found.append(source.take(pa.array(places[~absent[places]])).filter(wanted))
            count += found[-1].num_rows
            if self._in_order(where) and count >= (where.limit or 0):
                break
        return pa.concat_tables(found).select(names)

    def tally(self, where: Filter, counted: Tally, absent: Marked) -> None:
        """Add what matches to a tally."""
        if not self._is_plain(where, counted):
            counted.add(self.find(where, absent, counted.columns))
            return
        wanted, (first, last) = self._groups.wanted(where), self._span(where)
        if counted.every is None:
            counted.merge(self._bounded(wanted, first, last, absent))
            return
        codes, instants = self._groups.codes[first:last], self._instants[first:last]
        keep = wanted[codes] & ~absent[first:last]
        counted.merge(self._in_spans(codes[keep], instants[keep], counted.every))

    def _bounded(self, wanted: Marked, first: int, last: int, absent: Marked) -> pa.Table:
        """Count by group; since instants ascend, those of the outermost rows are the bounds."""
        found = list(self._groups.bounds(wanted, first, last, absent))
        codes, counts, lows, highs = zip(*found, strict=True) if found else ((), (), (), ())
        figures = {COUNT: np.array(counts, np.int64)}
        figures |= {FIRST: self._instants[list(lows)], LAST: self._instants[list(highs)]}
        return self._as_table(codes, figures)

    def _in_spans(self, codes: npt.NDArray[np.int32], instants: Places, every: int) -> pa.Table:
        """Count by group and span; since instants ascend, the first met is the least."""
        spans = instants - instants % every
        begins = np.concatenate([[True], spans[1:] != spans[:-1]])[: len(spans)]
        numbers = (np.cumsum(begins) - 1) * len(self._groups.names) + codes
        counts = np.bincount(numbers)
        least, most = np.zeros(len(counts), np.int64), np.zeros(len(counts), np.int64)
        most[numbers] = instants
        least[numbers[::-1]] = instants[::-1]
        there = np.flatnonzero(counts)
        of_span, of_group = np.divmod(there, max(1, len(self._groups.names)))
        figures = {INSTANT: spans[begins][of_span], COUNT: counts[there]}
        return self._as_table(of_group.tolist(), figures | {FIRST: least[there], LAST: most[there]})

    def _as_table(self, codes: Sequence[int], figures: dict[str, Places]) -> pa.Table:
        columns = {name: pa.array(values) for name, values in figures.items()}
        return pa.table(dict(self._groups.columns(codes)) | columns)

    def _is_plain(self, where: Filter, counted: Tally) -> bool:
        """Tell whether groups and instants are all that a count needs to look at."""
        others = (where.key, where.key_prefix, where.source_topic, where.after)
        elsewhere = self._other_bounds(where)
        return (
            not any(each is not None for each in (*others, *elsewhere))
            and not where.repeating
            and set(counted.by) <= set(GROUPED)
            and counted.of == self.order.instant
        )

    def _other_bounds(self, where: Filter) -> tuple[int | None, ...]:
        by_due = where.due_from, where.due_to
        return (where.changed_from,) if self.order.instant == DUE else by_due

    def _candidates(self, where: Filter) -> Iterator[Places]:
        """Yield places of rows that may match, those that come first before the others."""
        places = self._narrowed(where)
        begin, size = 0, _MANY
        if self._in_order(where):
            places = places[::-1] if where.order.descends else places
            size = max(_FEW, 2 * (where.limit or 0))
        while begin < len(places):
            yield places[begin : begin + size]
            begin, size = begin + size, min(4 * size, _MANY)

    def _in_order(self, where: Filter) -> bool:
        """Tell whether what comes first here is what comes first in the list."""
        return where.limit is not None and where.order.instant == self.order.instant

    def _narrowed(self, where: Filter) -> Places:
        first, last = self._span(where)
        if where.key is None and where.key_prefix:
            keys = self.rows.column(KEY).slice(first, last - first)
            begin = pc.fill_null(pc.starts_with(keys, pattern=where.key_prefix), False)
            return first + np.flatnonzero(begin.to_numpy())
        if where.key is not None:
            places: Places | None = self._keys.places([where.key])
        else:
            places = self._groups.places(self._groups.wanted(where), len(self) // 4)
        if places is None:
            return np.arange(first, last)
        return places[np.searchsorted(places, first) : np.searchsorted(places, last)]

    def _span(self, where: Filter) -> tuple[int, int]:
        """Return between which places the rows lie that a filter's instants leave."""
        is_due = self.order.instant == DUE
        since = where.due_from if is_due else where.changed_from
        until = where.due_to if is_due else None
        first = 0 if since is None else int(np.searchsorted(self._instants, since))
        last = len(self) if until is None else int(np.searchsorted(self._instants, until))
        if where.after is not None and where.order.instant == self.order.instant:
            before, behind = self._around(where.after)
            first, last = (
                (first, min(last, before))
                if where.order.descends
                else (
                    max(first, behind),
                    last,
                )
            )
        return first, max(first, last)

    def _around(self, cursor: Cursor) -> tuple[int, int]:
        """Return where the row of a place is or would be, and where the next one is."""
        first = int(np.searchsorted(self._instants, cursor.instant, "left"))
        last = int(np.searchsorted(self._instants, cursor.instant, "right"))
        names = self.order.columns[1:]

        def place(at: int) -> tuple[int | str, ...]:
            return tuple(self.rows.column(name)[at].as_py() for name in names)

        alike = range(first, last)
        value = tuple(cursor.values[name] for name in names)
        return (
            first + bisect_left(alike, value, key=place),
            first + bisect_right(alike, value, key=place),
        )
