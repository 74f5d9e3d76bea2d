"""What has become of the costs of an earlier run: its figures beside those of this one."""

from collections.abc import Callable
from typing import NamedTuple

from bench.bars import FAST, FEW_AGAIN, FLOOD, K10, M1_AGAIN, M10_AGAIN, OVERDUE
from bench.results import FILE, Missing, Results
from bench.sheet import Sheet, number

EARLIER = FILE.with_name("earlier.json")
_STORE = "delta"


class Gain(NamedTuple):
    """One figure, and where it is."""

    name: str
    scenario: str
    path: tuple[str, ...]
    more_is_better: bool = False


GAINS = (
    Gain("200,000 overdue, messages a second", OVERDUE, ("publish_rate",), True),
    Gain("… as a share of the raw rate", OVERDUE, ("of_raw",), True),
    Gain(
        "100,000 at once, from record to message, a second", FLOOD, ("messages_per_second",), True
    ),
    Gain("restart with 10 k pending, s", FEW_AGAIN, ("first_out_seconds",)),
    Gain("restart with 1 M pending, s", M1_AGAIN, ("first_out_seconds",)),
    Gain("restart with 10 M pending, s", M10_AGAIN, ("first_out_seconds",)),
    Gain("plan of a tick at 1,000/s, ms", K10, ("stage_ms", "plan")),
    Gain("read of a tick at 1,000/s, ms", K10, ("stage_ms", "read")),
    Gain("read of a tick at 5,000/s, ms", FAST, ("stage_ms", "read")),
    Gain("commit of a tick at 5,000/s, ms", FAST, ("stage_ms", "commit")),
    Gain("CPU s by the million at 1,000/s", K10, ("cpu_per_million", "job")),
    Gain("CPU s by the million at 5,000/s", FAST, ("cpu_per_million", "job")),
    Gain("the broker's, at 1,000/s", K10, ("cpu_per_million", "broker")),
    Gain("idle, cores busy", "idle", ("cores", "job")),
)


def gains(now: Results, before: Results) -> Sheet:
    """Return a table of what was measured both times; a ratio above 1 is a gain."""
    rows = [["the raw rate, messages a second", *_row(_raw, now, before, True)]]
    for gain in GAINS:
        rows.append([gain.name, *_row(_figure(gain), now, before, gain.more_is_better)])
    return Sheet(["", "then", "now", "gain"], rows)


def _row(
    figure: Callable[[Results], float], now: Results, before: Results, more_is_better: bool
) -> list[str]:
    old, new = (_or_none(figure, each) for each in (before, now))
    if not old or not new:
        return [number(old), number(new), number(None)]
    return [number(old), number(new), f"{number(new / old if more_is_better else old / new)} x"]


def _figure(gain: Gain) -> Callable[[Results], float]:
    return lambda results: results.figure(_STORE, gain.scenario, *gain.path)


def _raw(results: Results) -> float:
    """Return the raw rate that the backlog of this run is compared with."""
    run = (_STORE, OVERDUE)
    return results.figure(*run, "publish_rate") / results.figure(*run, "of_raw")


def _or_none(figure: Callable[[Results], float], results: Results) -> float | None:
    try:
        return figure(results)
    except Missing:
        return None
