"""Looks ahead: how much falls due when, repeats included, and when it is more than can go out."""

from collections import defaultdict
from dataclasses import replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from state.clock import MINUTE
from state.columns import reshape
from state.errors import ConfigError
from state.inspector import Filter, Inspector
from state.readable import TIME, times
from state.row import LIVE, OCCURRENCE, OUTPUT_TOPIC, POLICY, SCHEDULED, Status
from state.rules.policy import Policy
from state.rules.repeat import MOST, Repeat, occurrences
from state.tally import COUNT, INSTANT

Ints = npt.NDArray[np.int64]

_MOST_STEPS = 1_000_000
COMING = pa.schema(
    [
        pa.field("time", TIME),  # the begin of the step
        pa.field("topic", pa.string()),
        pa.field("waiting", pa.int64()),  # messages that are there already
        pa.field("repeats", pa.int64()),  # occurrences that will be made of repeating ones
    ]
)
LOAD = pa.schema(
    [
        pa.field("time", TIME),
        pa.field("due", pa.int64()),
        pa.field("waiting", pa.int64()),  # due by the end of the step, and not out
        pa.field("late_s", pa.float64()),  # how late the last of them will be
    ]
)


def due_counts(
    inspector: Inspector,
    now: int,
    until: int,
    step: int = MINUTE,
    topic: str | None = None,
    with_repeats: bool = True,
) -> pa.Table:
    """Count what falls due before ``until``, by the begin of each ``step`` and by output topic.

    What is overdue stands in steps before ``now``. Messages that repeat count with all their coming
    occurrences, from ``now`` on, unless ``with_repeats`` is off; what is paused does not count.
    Steps in which nothing is due have no line.
    """
    _check(now, until, step)
    live = Filter(statuses=LIVE, output_topic=topic, due_to=until)
    waiting = inspector.tally(live, [OUTPUT_TOPIC], every=step)
    columns = {"time": times(waiting.column(INSTANT)), "topic": waiting.column(OUTPUT_TOPIC)}
    lines = [reshape(waiting, COMING, columns | {"waiting": waiting.column(COUNT), "repeats": 0})]
    if with_repeats:
        series = replace(live, statuses=[Status.PENDING], repeating=True)
        lines.append(_coming(inspector, series, now, until, step))
    both = pa.concat_tables(lines).group_by(["time", "topic"])
    summed = both.aggregate([("waiting", "sum"), ("repeats", "sum")])
    named = summed.select(["time", "topic", "waiting_sum", "repeats_sum"])
    found = reshape(named.rename_columns(COMING.names), COMING)
    return found.sort_by([("time", "ascending"), ("topic", "ascending")])


def load(coming: pa.Table, per_second: float, now: int, until: int, step: int = MINUTE) -> pa.Table:
    """Play what is coming against a rate: how many wait at the end of each step, and how late.

    ``coming`` is what ``due_counts`` returned for the same ``now``, ``until`` and ``step``; what is
    overdue is taken as due now. ``per_second`` is how many messages go out in a second. Every step
    from ``now`` on has a line.
    """
    _check(now, until, step)
    if per_second <= 0:
        raise ConfigError("per_second: must be above zero; give a measured rate")
    first = now - now % step
    due = np.zeros(-(-(until - first) // step), np.int64)
    instants = coming.column("time").cast(pa.int64()).to_numpy()
    counts = pc.add(coming.column("waiting"), coming.column("repeats")).to_numpy()
    np.add.at(due, np.maximum(instants - first, 0) // step, counts)
    room, left = per_second * step / 1_000_000, 0.0
    waiting = np.zeros(len(due))
    for place, count in enumerate(due):
        left = max(0.0, left + float(count) - room)
        waiting[place] = left
    begins = pa.array(first + step * np.arange(len(due)), pa.int64())
    columns = {"time": begins.cast(TIME), "due": pa.array(due)}
    left_over = pa.array(np.ceil(waiting).astype(np.int64))
    return pa.table(
        columns | {"waiting": left_over, "late_s": pa.array(waiting / per_second)}, schema=LOAD
    )


def _check(now: int, until: int, step: int) -> None:
    if step <= 0 or until <= now:
        raise ConfigError("until: must lie after now, and step must be above zero")
    if (until - now) // step > _MOST_STEPS:
        raise ConfigError("step: is too small for this long a time; give one with fewer steps")


def _coming(inspector: Inspector, where: Filter, now: int, until: int, step: int) -> pa.Table:
    first = now - now % step
    edges = np.append(np.arange(first, until, step, dtype=np.int64), until)
    edges[0] = now
    found: defaultdict[str, Ints] = defaultdict(lambda: np.zeros(len(edges) - 1, np.int64))
    for rows in inspector.scan(where, [POLICY, SCHEDULED, OCCURRENCE, OUTPUT_TOPIC]):
        for row in rows.to_pylist():
            policy = Policy.from_json(row[POLICY])
            counts = _series(policy, row[SCHEDULED], row[OCCURRENCE], edges)
            found[row[OUTPUT_TOPIC]] += counts
    lines = [
        {"time": int(first + step * place), "topic": topic, "waiting": 0, "repeats": int(number)}
        for topic, numbers in found.items()
        for place, number in enumerate(numbers)
        if number
    ]
    return pa.Table.from_pylist(lines, COMING)


def _series(policy: Policy, scheduled: int, occurrence: int, edges: Ints) -> Ints:
    """Count the occurrences after the present one, between each edge and the next."""
    repeat, counts = policy.repeat, np.zeros(len(edges) - 1, np.int64)
    if repeat is None:
        return counts
    if policy.then is not None:  # it was moved; the series goes on from there
        scheduled, occurrence = policy.then
        if edges[0] <= scheduled < edges[-1]:
            counts[np.searchsorted(edges, scheduled, "right") - 1] += 1
    return counts + np.diff(_upto(repeat, scheduled, occurrence, edges))


def _upto(repeat: Repeat, scheduled: int, occurrence: int, edges: Ints) -> Ints:
    """Return how many of the series follow the present one before each edge."""
    last = MOST if repeat.count is None else repeat.count - 1
    most = max(0, last - occurrence)
    before = edges - 1 if repeat.until is None else np.minimum(edges - 1, repeat.until)
    if repeat.every is not None:
        found = (before - repeat.anchor) // repeat.every - occurrence
        return np.asarray(np.clip(found, 0, most), np.int64)
    matches = _matches(repeat.cron or "", repeat.tz, min(scheduled, int(edges[0])), int(edges[-1]))
    passed = np.searchsorted(matches, scheduled, "right")
    return np.asarray(np.clip(np.searchsorted(matches, before, "right") - passed, 0, most))


@lru_cache(maxsize=64)
def _matches(cron: str, tz: str, since: int, until: int) -> Ints:
    """Return the instants after one and before another; many messages share an expression."""
    found = []
    for each in occurrences(Repeat(cron=cron, tz=tz, anchor=since), since):
        if each.scheduled >= until:
            break
        found.append(each.scheduled)
    return np.array(found[1:], np.int64)
