"""Answers questions from a state in memory, as far as it knows; None where it does not."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow as pa

from state.columns import reshape
from state.delta.current import Current
from state.delta.light import LIGHT
from state.delta.light_groups import GROUPED
from state.inspector import Filter
from state.ledger import Live
from state.row import CLOSED, DUE, HEADERS, LIVE, PARKED, ROW, Status
from state.select import expression
from state.tally import COUNT, FIRST, Tally

_EVERY_KIND = Filter(statuses=LIVE, kind=None)


def knows(where: Filter, columns: Sequence[str]) -> bool:
    """Tell whether some columns of the rows that match are in memory."""
    missing = set(columns) - set(LIGHT.names)
    if HEADERS in columns:
        return not missing and where.statuses is not None and set(where.statuses) == {Status.DEAD}
    return not missing


def find(current: Current, where: Filter, columns: Sequence[str]) -> pa.Table | None:
    """Return the rows that match, in no order; with a limit at least those that come first."""
    parts = list(_parts(current, where, columns))
    return None if any(part is None for part in parts) else pa.concat_tables(parts)


def tally(
    current: Current, where: Filter, by: Sequence[str], every: int | None, of: str
) -> pa.Table | None:
    """Count the rows that match."""
    counted = Tally(by, every, of)
    live, closed = _wanted(where)
    if closed and not _reaches(current, where):
        return None
    counted.add(current.changed.filter(expression(where)))
    if live:
        current.base.live.tally(where, counted, current.absent)
    if closed:
        current.base.closed.tally(where, counted, current.outdated)
    return counted.table()


def live_groups(current: Current) -> Live:
    """Count the live rows by status, kind, output topic and whether they are parked."""
    live: Live = {}
    for is_parked in (False, True):
        bound = {"due_from": PARKED} if is_parked else {"due_to": PARKED}
        counted = tally(current, replace(_EVERY_KIND, **bound), GROUPED, None, DUE)  # type: ignore[arg-type]
        for row in [] if counted is None else counted.to_pylist():
            status, kind, topic = (row[name] for name in GROUPED)
            live[status, kind, topic, is_parked] = row[COUNT], row[FIRST]
    return live


def _parts(current: Current, where: Filter, columns: Sequence[str]) -> Iterator[pa.Table | None]:
    kept = pa.schema([ROW.field(name) for name in columns])
    live, closed = _wanted(where)
    yield reshape(current.changed.filter(expression(where)), kept)
    if live:
        yield reshape(current.base.live.find(where, current.absent, list(columns)), kept)
    if closed:
        found = current.base.closed.find(where, current.outdated, list(columns))
        is_all = _reaches(current, where) or _is_enough(where, found.num_rows)
        yield reshape(found, kept) if is_all else None


def _wanted(where: Filter) -> tuple[bool, bool]:
    statuses = set(Status) if where.statuses is None else set(where.statuses)
    return bool(statuses & LIVE), bool(statuses & CLOSED)


def _reaches(current: Current, where: Filter) -> bool:
    """Tell whether all closed rows that are asked for are in memory."""
    since = current.base.since
    return since is None or (where.changed_from is not None and where.changed_from > since)


def _is_enough(where: Filter, rows: int) -> bool:
    """Tell whether those in memory, which are the newest, fill a list that begins with them."""
    in_order = where.limit is not None and where.order.instant != DUE
    return in_order and rows >= (where.limit or 0)
