"""The bars, as data: a figure of one run, made from others, and the bound it must keep."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from bench.results import Missing, Results
from bench.scenarios import SCENARIOS

FAULTS = ("lost", "twice", "early", "unwanted")
_STORES = {scenario.name: scenario.stores for scenario in SCENARIOS}
MIDDLE, WORST = ("late_ms", "p50"), ("late_ms", "p99")


class Apart(Missing):
    """A scenario is not for this store."""


class Of:
    """The figures of one store, by scenario and name."""

    def __init__(self, results: Results, store: str) -> None:
        self._results, self._store = results, store

    def __call__(self, scenario: str, *path: str) -> float:
        """Return a figure; Missing if it was not measured."""
        if self._store not in _STORES[scenario]:
            raise Apart(scenario)
        return self._results.figure(self._store, scenario, *path)

    def with_database(self, scenario: str, name: str) -> float:
        """Return a figure of the job, together with that of the database it needs, if any."""
        own = self(scenario, name, "job")
        return own + (self(scenario, name, "mongo") if self._store == "mongo" else 0.0)

    def ratio(self, above: str, below: str, *path: str) -> float:
        """Return a figure of one scenario by that of another."""
        return self(above, *path) / self(below, *path)

    def by_fold(self, scenario: str) -> float:
        """Return the lateness p99 while a fold runs by that while none does."""
        if self._store != "delta":
            raise Apart("folds")
        return self(scenario, "during_fold", "p99") / self(scenario, "without_fold", "p99")

    def faults(self) -> float:
        """Return how many messages of all scenarios were lost, twice, early or unwanted."""
        runs = self._results.scenarios(self._store).values()
        counted = [run[name] for run in runs for name in FAULTS if name in run]
        if not counted:
            raise Missing("no scenario")
        return float(sum(counted))


class Verdict(StrEnum):
    """How a bar stands."""

    MET = "met"
    MISSED = "missed"
    UNKNOWN = "not measured"
    APART = "not for this store"


@dataclass(frozen=True, slots=True)
class Bar:
    """``figure`` of a store must be at most, or at least, ``bound``."""

    name: str
    figure: Callable[[Of], float]
    sign: Literal["≤", "≥"]
    bound: float
    unit: str = ""

    def judged(self, results: Results, store: str) -> tuple[Verdict, float | None]:
        """Return how it stands, and the figure if it was measured."""
        try:
            found = self.figure(Of(results, store))
        except Apart:
            return Verdict.APART, None
        except Missing:
            return Verdict.UNKNOWN, None
        held = found <= self.bound if self.sign == "≤" else found >= self.bound
        return Verdict.MET if held else Verdict.MISSED, found


K10, M1, M10 = "1,000/s", "1,000/s, 1 M pending", "1,000/s, 10 M pending"
FAST, BURST, OVERDUE = "5,000/s", "burst of 100,000", "200,000 overdue at start"
INSTANT = "100,000 at one instant"
FOLDS, FLOOD = "1,000/s while folds run, 1 M pending", "100,000 at once, 1 M pending"
NAIVE = "naive MERGE, 1 M pending"
FEW_AGAIN, M1_AGAIN, M10_AGAIN = (f"restart, {n} pending" for n in ("10 k", "1 M", "10 M"))

BARS = (
    Bar("messages lost, twice, early or unwanted, in all scenarios", Of.faults, "≤", 0),
    Bar(
        "tick p50 at 10 M pending / at 10 k",
        lambda f: f.ratio(M10, K10, "tick_ms", "p50"),
        "≤",
        1.3,
    ),
    Bar(
        "peak memory of the job at 10 M pending / at 1 M",
        lambda f: f.ratio(M10, M1, "peak_mb", "job"),
        "≤",
        1.15,
    ),
    Bar(
        "restart with 10 M pending / with 10 k, to the first message out",
        lambda f: f.ratio(M10_AGAIN, FEW_AGAIN, "first_out_seconds"),
        "≤",
        3,
    ),
    Bar(
        "lateness p99 while a fold runs / while none does",
        lambda f: f.by_fold(FOLDS),
        "≤",
        2,
    ),
    Bar(
        "… at 5,000/s, with folds as they come",
        lambda f: f.by_fold(FAST),
        "≤",
        2,
    ),
    Bar("publish rate of a burst / raw", lambda f: f(BURST, "of_raw"), "≥", 0.4),
    Bar("… if all of it is due at one instant", lambda f: f(INSTANT, "of_raw"), "≥", 0.4),
    Bar("publish rate of what is overdue / raw", lambda f: f(OVERDUE, "of_raw"), "≥", 0.4),
    Bar("lateness p99 at 1,000/s, 6 % of a tick", lambda f: f(K10, *WORST), "≤", 60, "ms"),
    Bar("lateness p99 at 5,000/s, 15 % of a tick", lambda f: f(FAST, *WORST), "≤", 150, "ms"),
    Bar("lateness p99 at 10 M pending / at 10 k", lambda f: f.ratio(M10, K10, *WORST), "≤", 1.3),
    Bar(
        "messages a second at 1 M pending / naive MERGE of 1,000 a tick, from record to message",
        lambda f: f(FLOOD, "messages_per_second") / f(NAIVE, "messages_per_second"),
        "≥",
        50,
    ),
    Bar(
        "… the state and publishing alone, 1,000 a tick on both sides",
        lambda f: f(NAIVE, "naive", "ratio"),
        "≥",
        50,
    ),
)

# The quickest scheduler of the field, measured on such a machine: a figure of another program.
PEERS = (
    Bar("lateness p50 at 1,000/s", lambda f: f(K10, *MIDDLE), "≤", 17, "ms"),
    Bar("lateness p99 at 1,000/s", lambda f: f(K10, *WORST), "≤", 125, "ms"),
    Bar("lateness max at 1,000/s", lambda f: f(K10, "late_ms", "max"), "≤", 41_000, "ms"),
    Bar("lateness p50 at 5,000/s", lambda f: f(FAST, *MIDDLE), "≤", 83, "ms"),
    Bar("lateness p99 at 5,000/s", lambda f: f(FAST, *WORST), "≤", 250, "ms"),
    Bar("lateness max at 5,000/s", lambda f: f(FAST, "late_ms", "max"), "≤", 79_000, "ms"),
    Bar("a burst of 100,000", lambda f: f(BURST, "publish_rate"), "≥", 35_700, "/s"),
    Bar("200,000 overdue", lambda f: f(OVERDUE, "publish_rate"), "≥", 31_600, "/s"),
    Bar("restart with 1 M pending", lambda f: f(M1_AGAIN, "first_out_seconds"), "≤", 11, "s"),
    Bar("memory with 1 M pending", lambda f: f.with_database(M1, "peak_mb"), "≤", 2_000, "MB"),
    Bar(
        "processor at 1,000/s",
        lambda f: 100 * f.with_database(K10, "cores"),
        "≤",
        14,
        "% of a core",
    ),
)
