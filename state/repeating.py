"""Says which occurrences of repeating messages a commit makes, and which of them it claims.

A claimed row that repeats leaves the occurrence after it. That one may be due as well, and then
competes for the room of its lane with everything else that is due, in the order of release.
"""

from collections import Counter
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from state.claims import Room, may_claim
from state.columns import reshape
from state.cursor import ORDER
from state.row import (
    ATTEMPT,
    CLAIM,
    DUE,
    HASH,
    OCCURRENCE,
    OUTCOME_FIELDS,
    OUTPUT_TOPIC,
    POLICY,
    REPEATS,
    ROW,
    SCHEDULED,
    SKIPPED,
)
from state.rules.policy import Policy
from state.rules.repeat import Following, following, missed_from
from state.select import as_due
from state.store import Tick

_MADE_NEW = [CLAIM, *(field.name for field in OUTCOME_FIELDS)]
_SKIPPED = pa.field(SKIPPED, pa.int64())


class Chosen(NamedTuple):
    """What a commit claims, in the order of release, and the occurrences that then are pending.

    ``origins`` and ``upcoming_from`` are the places, among the rows that were given, of the row
    that each is or repeats. Both tables have the columns given and SKIPPED, which is null where
    the row is one of those given.
    """

    claims: pa.Table
    origins: npt.NDArray[np.int64]
    upcoming: pa.Table
    upcoming_from: npt.NDArray[np.int64]


class _Made(NamedTuple):
    """An occurrence that follows, and the place of the row whose series it belongs to."""

    origin: int
    occurrence: Following


def repeats(policies: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    """Tell which policies may ask for a repeat, without reading them."""
    if policies.null_count == len(policies):
        return np.zeros(len(policies), np.bool_)
    found = pc.fill_null(pc.match_substring(policies, REPEATS), False)
    return np.asarray(found.to_numpy(), np.bool_)


def choose(rows: pa.Table, tick: Tick) -> Chosen:
    """Choose what to claim of rows that there is room for, given in the order of release."""
    rows = rows.append_column(_SKIPPED, pa.nulls(rows.num_rows, pa.int64()))
    heads = np.flatnonzero(repeats(rows.column(POLICY)))
    nothing = np.empty(0, np.int64)
    if len(heads) == 0:
        return Chosen(rows, np.arange(rows.num_rows), rows.slice(0, 0), nothing)
    series = _Series(rows, [int(head) for head in heads], tick)
    claims, origins = _merged(rows, series, tick)
    last = _last_claimed(claims, origins, set(series.heads))
    after = [_Made(origin, n) for origin, at in last.items() if (n := series.after(origin, *at))]
    return Chosen(
        series.without_repeat(claims, origins),
        origins,
        series.rows(after),
        np.array([each.origin for each in after], np.int64),
    )


class _Series:
    """The series of the rows that repeat, named by the places of these rows."""

    def __init__(self, rows: pa.Table, heads: Sequence[int], tick: Tick) -> None:
        self.heads = heads
        self._rows = rows
        self._tick = tick
        found = rows.take(pa.array(heads, pa.int64()))
        columns = {name: found.column(name).to_pylist() for name in [*ORDER, SCHEDULED]}
        policies = [Policy.from_json(text) for text in found.column(POLICY).to_pylist()]
        self._policies = dict(zip(heads, policies, strict=True))
        self._starts = dict(
            zip(heads, zip(columns[SCHEDULED], columns[OCCURRENCE], strict=True), strict=True)
        )
        ties = zip(*(columns[name] for name in ORDER[1:-1]), strict=True)
        self._ties = dict(zip(heads, ties, strict=True))
        self._lanes = dict(zip(heads, found.column(HASH).to_pylist(), strict=True))
        self._topics = dict(zip(heads, found.column(OUTPUT_TOPIC).to_pylist(), strict=True))

    def after(self, origin: int, scheduled: int, occurrence: int) -> Following | None:
        """Return what follows an occurrence of a series, None at its end."""
        repeat, then = self._policies[origin].repeat, self._policies[origin].then
        if repeat is None:
            return None
        if then is not None and (scheduled, occurrence) == self._starts[origin]:
            return Following(*then, skipped=0)
        tick = self._tick
        return following(repeat, scheduled, occurrence, tick.now, tick.miss_after)

    def due_by(self, until: int, room: Room) -> list[_Made]:
        """Return what follows the rows by an instant: of each lane the first there is room for."""
        waiting = [
            self._entry(_Made(origin, n))
            for origin, start in self._starts.items()
            if (n := self.after(origin, *start)) and n.scheduled <= until
        ]
        heapify(waiting)
        found: list[_Made] = []
        used: Counter[int | str] = Counter()
        while waiting:
            each = heappop(waiting)[1]
            if not self._fits(each, room, used):
                continue
            found.append(each)
            n = self.after(each.origin, each.occurrence.scheduled, each.occurrence.occurrence)
            if n is not None and n.scheduled <= until:
                heappush(waiting, self._entry(_Made(each.origin, n)))
        return found

    def rows(self, made: Sequence[_Made]) -> pa.Table:
        """Return occurrences as rows that are yet to be claimed."""
        rows = self._rows.take(pa.array([each.origin for each in made], pa.int64()))
        instants = pa.array([each.occurrence.scheduled for each in made], pa.int64())
        policies = [self._policies[m.origin].at(m.occurrence.scheduled).to_json() for m in made]
        values: dict[str, object] = dict.fromkeys(_MADE_NEW)
        values |= {name: None for name in rows.schema.names if name not in ROW.names}
        values |= {
            OCCURRENCE: pa.array([each.occurrence.occurrence for each in made], pa.int32()),
            DUE: instants,
            SCHEDULED: instants,
            POLICY: pa.array(policies, pa.string()),
            ATTEMPT: 0,
            SKIPPED: pa.array([each.occurrence.skipped for each in made], pa.int64()),
        }
        return reshape(rows, rows.schema, values)

    def without_repeat(self, claims: pa.Table, origins: npt.NDArray[np.int64]) -> pa.Table:
        """Take the repeat out of the policies of claims: what follows has it now."""
        texts = claims.column(POLICY).to_pylist()
        instants = claims.column(SCHEDULED).to_pylist()
        numbers = claims.column(OCCURRENCE).to_pylist()
        for place, origin in enumerate(map(int, origins)):
            if origin in self._policies:
                missed = self._missed_from(origin, instants[place], numbers[place])
                texts[place] = Policy.from_json(texts[place]).without_repeat(missed).to_json()
        at = claims.schema.get_field_index(POLICY)
        return claims.set_column(at, claims.schema.field(at), pa.array(texts, pa.string()))

    def _missed_from(self, origin: int, scheduled: int, occurrence: int) -> int | None:
        """Return when an occurrence counts as missed; one that somebody moved is sent anyhow."""
        repeat, then = self._policies[origin].repeat, self._policies[origin].then
        was_moved = then is not None and (scheduled, occurrence) == self._starts[origin]
        if repeat is None or was_moved:
            return None
        return missed_from(repeat, scheduled, occurrence, self._tick.miss_after)

    def _entry(self, made: _Made) -> tuple[tuple[object, ...], _Made]:
        instant, number, _ = made.occurrence
        return (instant, *self._ties[made.origin], number), made

    def _fits(self, made: _Made, room: Room, used: Counter[int | str]) -> bool:
        lane, topic = self._lanes[made.origin] % len(room.lanes), self._topics[made.origin]
        limited = made.occurrence.scheduled < room.backlog_before and topic in room.quotas
        if used[lane] >= room.lanes[lane] or (limited and used[topic] >= room.quotas[topic]):
            return False
        used[lane] += 1
        used[topic] += limited
        return True


def _merged(rows: pa.Table, series: _Series, tick: Tick) -> tuple[pa.Table, npt.NDArray[np.int64]]:
    """Let what follows compete with the rows themselves; return what is claimed and whence."""
    made = series.due_by(tick.claim_until, tick.room)
    origins = np.array([*range(rows.num_rows), *(each.origin for each in made)], np.int64)
    if not made:
        return rows, origins
    everything = pa.concat_tables([rows, series.rows(made)])
    order = as_due(everything)
    everything, origins = everything.take(order), origins[order.to_numpy()]
    keep = may_claim(everything, tick.room)
    _break_off(keep, everything.column(OCCURRENCE).to_pylist(), origins, set(series.heads))
    return everything.filter(pa.array(keep)), origins[keep]


def _break_off(
    keep: npt.NDArray[np.bool_],
    occurrences: Sequence[int],
    origins: npt.NDArray[np.int64],
    heads: set[int],
) -> None:
    """Let go of what follows an occurrence that is not claimed: it is not made yet."""
    places = [place for place, origin in enumerate(origins) if int(origin) in heads]
    ended: set[int] = set()
    for place in sorted(places, key=lambda place: occurrences[place]):
        origin = int(origins[place])
        keep[place] &= origin not in ended
        if not keep[place]:
            ended.add(origin)


def _last_claimed(
    claims: pa.Table, origins: npt.NDArray[np.int64], heads: set[int]
) -> dict[int, tuple[int, int]]:
    """Return instant and number of the last occurrence that is claimed of each series."""
    instants = claims.column(SCHEDULED).to_pylist()
    numbers = claims.column(OCCURRENCE).to_pylist()
    last: dict[int, tuple[int, int]] = {}
    for place, origin in enumerate(origins):
        if int(origin) in heads:
            at = (instants[place], numbers[place])
            last[int(origin)] = max(last.get(int(origin), at), at, key=lambda found: found[1])
    return last
