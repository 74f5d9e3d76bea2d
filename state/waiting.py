"""Counts what is pending by output topic."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa

from state.inspector import Filter, Waiting
from state.row import OUTPUT_TOPIC, PARKED, Status
from state.tally import COUNT, FIRST, LAST

PENDING = Filter(statuses=[Status.PENDING])
TIMED = replace(PENDING, due_to=PARKED)
HELD = replace(PENDING, due_from=PARKED)


def waiting_by(tally: Callable[[Filter, list[str]], pa.Table]) -> list[Waiting]:
    """Return what waits, ordered by topic, as ``Inspector.tally`` counts it."""
    timed, held = (_by_topic(tally(where, [OUTPUT_TOPIC])) for where in (TIMED, HELD))
    return [
        _waiting(topic, timed.get(topic, _NONE), held.get(topic, _NONE))
        for topic in sorted(timed | held)
    ]


class _Counted(NamedTuple):
    rows: int
    first: int | None
    last: int | None


_NONE = _Counted(0, None, None)


def _by_topic(counted: pa.Table) -> dict[str, _Counted]:
    return {
        str(row[OUTPUT_TOPIC]): _Counted(row[COUNT], row[FIRST], row[LAST])
        for row in counted.to_pylist()
    }


def _waiting(topic: str, timed: _Counted, held: _Counted) -> Waiting:
    return Waiting(topic, timed.rows + held.rows, held.rows, timed.first, timed.last)
