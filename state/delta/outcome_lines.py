"""Turns outcomes into lines of the changelog, leaving out those that would change nothing."""

from collections.abc import Callable, Sequence
from itertools import compress
from operator import not_

import pyarrow as pa
import pyarrow.compute as pc

from state.admission import coordinates_of, versions_of
from state.columns import reshape
from state.delta.inspector import find
from state.delta.outstanding import Closed, Outstanding
from state.delta.tables import Tables
from state.delta.window import Window
from state.fields import bytes_in
from state.lines import full_outcome_line, outcome_lines
from state.outcomes import (
    Newest,
    attempts_in,
    one_per_version,
    overtaken,
    without_known_attempts,
)
from state.row import (
    ATTEMPT,
    CLOSED,
    IDENTITY,
    LIVE,
    PUBLISHED_OFFSET,
    ROW,
    SOURCE_OFFSET,
    STATUS,
    Status,
)
from state.version import Coordinates

_CLOSED = pa.array(sorted(CLOSED), pa.string())


class OutcomeLines:
    """Knows where the row of an outcome is: claimed, in the window, or in the tables.

    An outcome that puts a row back, or corrects one that is closed, is written together with the
    whole row: who reads the line later need not search for it.
    """

    def __init__(
        self,
        tables: Tables,
        outstanding: Outstanding,
        closed: Closed,
        window: Window,
        pending: Callable[[Sequence[bytes]], pa.Table],
        newest: Newest,
    ) -> None:
        self._tables = tables
        self._pending = pending
        self._newest = newest
        self._outstanding = outstanding
        self._closed = closed
        self._window = window

    def lines(self, outcomes: pa.Table, batch: int, now: int) -> tuple[pa.Table, list[pa.Table]]:
        """Return the lines to write: those that end claimed rows, and the others."""
        if self._ends_claimed(outcomes):
            return outcome_lines(outcomes, batch, now), []
        outcomes = without_known_attempts(outcomes, self._attempt_of)
        outcomes = overtaken(one_per_version(outcomes), self._newest)
        identities = outcomes.column(IDENTITY).to_pylist()
        named = list(zip(identities, coordinates_of(outcomes), strict=True))
        statuses = outcomes.column(STATUS).to_pylist()
        claimed = [name[1] in self._outstanding for name in named]
        near = [
            is_claimed or self._window.holds(identity, place)
            for is_claimed, (identity, place) in zip(claimed, named, strict=True)
        ]
        far = self._look_up(
            [name for name, is_near in zip(named, near, strict=True) if not is_near]
        )
        plain: dict[bool, list[int]] = {True: [], False: []}
        full = []
        for i, (name, is_near, status) in enumerate(zip(named, near, statuses, strict=True)):
            if is_near and status != Status.PENDING:
                plain[claimed[i]].append(i)
                continue
            row = self._row(*name) if is_near else far.get(name[1])
            if row is not None and _may_act(row, status):
                full.append(full_outcome_line(row, outcomes.slice(i, 1), batch, now))
        of_claimed, of_pending = (
            outcome_lines(outcomes.take(pa.array(plain[which], pa.int64())), batch, now)
            for which in (True, False)
        )
        return of_claimed, [of_pending, *full]

    def _ends_claimed(self, outcomes: pa.Table) -> bool:
        """Tell whether each outcome ends a claimed row and is the only one for it: most do."""
        back = pc.equal(outcomes.column(STATUS), Status.PENDING.value)
        tried = pc.fill_null(pc.not_equal(outcomes.column(ATTEMPT), 0), False)
        if pc.any(pc.or_(back, tried)).as_py():
            return False
        named = set(self._outstanding.names.of(outcomes))
        return len(named) == outcomes.num_rows and self._outstanding.holds(named)

    def settled(self, lines: pa.Table) -> None:
        """Take note of outcomes that were written."""
        statuses = lines.column(STATUS)
        is_closed = pc.is_in(statuses, _CLOSED)
        is_unsure = pc.and_(
            pc.equal(statuses, Status.DONE.value), pc.is_null(lines.column(PUBLISHED_OFFSET))
        )
        named = self._outstanding.remove(lines)
        ended = is_closed.to_pylist()
        told = zip(named, is_unsure.to_pylist(), strict=True)
        self._closed.add(compress(told, ended))
        self._closed.remove(compress(named, map(not_, ended)))

    def _attempt_of(self, identity: bytes, coordinates: Coordinates) -> int:
        if self._is_near(identity, coordinates):
            return attempts_in(self._row(identity, coordinates))
        return attempts_in(self._look_up([(identity, coordinates)]).get(coordinates))

    def _is_near(self, identity: bytes, coordinates: Coordinates) -> bool:
        return coordinates in self._outstanding or self._window.holds(identity, coordinates)

    def _row(self, identity: bytes, coordinates: Coordinates) -> pa.Table | None:
        claimed = self._outstanding.row(coordinates)
        if claimed is not None:
            return claimed
        row = self._window.row(identity, coordinates)
        return None if row is None else reshape(row, ROW)

    def _look_up(self, names: list[tuple[bytes, Coordinates]]) -> dict[Coordinates, pa.Table]:
        """Return rows from the tables: what is pending by its key, closed ones by a search."""
        short = self._outstanding.names.of_one
        open_ones = [name for name in names if not self._closed.is_final(short(name[1]))]
        if not open_ones:
            return {}
        found = _by_version(self._pending([identity for identity, _ in open_ones]))
        rest = [name for name in open_ones if name[1] not in found]
        if not rest:
            return found
        identities = pa.array([identity for identity, _ in rest], pa.binary())
        offsets = pa.array([c[2] for _, c in rest], pa.int64())
        where = pc.field(SOURCE_OFFSET).isin(offsets) & bytes_in(IDENTITY, identities)
        return found | _by_version(find(self._tables, where))


def _by_version(rows: pa.Table) -> dict[Coordinates, pa.Table]:
    return {v.coordinates: rows.slice(i, 1) for i, (_, v) in enumerate(versions_of(rows))}


def _may_act(row: pa.Table, status: str) -> bool:
    found = row.column(STATUS)[0].as_py()
    if found in LIVE:
        return True
    unsure = found == Status.DONE and not row.column(PUBLISHED_OFFSET)[0].is_valid
    return unsure and status != Status.DONE
