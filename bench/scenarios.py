"""What is measured, as data. Scenarios in a row with the same ``job`` share one, in this order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal

Store = Literal["delta", "mongo"]
BOTH: tuple[Store, ...] = ("delta", "mongo")
DELTA: tuple[Store, ...] = ("delta",)

AT_ONCE = (0.0, 0.0)
AHEAD = (20.0, 40.0)  # seconds from sending a message to its instant
QUICK_AHEAD = (10.0, 30.0)
QUICK_SHARE = 3  # the quick set takes so much less time for what goes on for a while

FEW, MILLION, TEN_MILLION = 10_000, 1_000_000, 10_000_000


class What(StrEnum):
    """What happens in a scenario; bench/acts.py does it."""

    STEADY = "steady"  # a rate, for some seconds
    POLICY = "policy"  # the same; every other one asks about its key and is ignored
    FLOOD = "flood"  # as many as it takes, as fast as they can be sent, due at once
    BURST = "burst"  # all fall due within one second, or at one instant
    KILL = "kill"  # the same, and the job is killed in the middle and started again
    BACKLOG = "backlog"  # all are overdue when the job starts
    HOT = "hot"  # one key is replaced again and again; the last version goes out
    CHURN = "churn"  # 80 % are replaced or cancelled before they are due
    IDLE = "idle"  # nothing
    RESTART = "restart"  # the job is stopped and started again
    NAIVE = "naive"  # bench/naive.py instead: a MERGE for each tick
    EXECUTORS = "executors"  # bench/executors.py instead: a backlog, by executors and by the driver


@dataclass(frozen=True, slots=True)
class Scenario:
    """One row of the tables."""

    name: str
    what: What
    job: str
    pending: int = FEW  # far ahead, all the while
    rate: int = 0  # messages a second
    seconds: int = 0
    count: int = 0
    spread: float = 1.0  # seconds, of a burst
    ahead: tuple[float, float] = AHEAD
    stores: tuple[Store, ...] = BOTH
    quick: bool = False  # part of the quick set
    delta: Mapping[str, object] = field(default_factory=dict)  # settings below state.delta


def _steady(name: str, rate: int, job: str = "10 k pending", **more: object) -> Scenario:
    return replace(Scenario(name, What.STEADY, job, rate=rate, seconds=60), **more)


SCENARIOS = (
    _steady("1,000/s", 1_000, quick=True),
    _steady("200/s", 200),
    _steady("1,000/s due at once", 1_000, ahead=AT_ONCE, quick=True),
    _steady("5,000/s", 5_000, quick=True),
    _steady("10,000/s", 10_000, stores=DELTA),
    Scenario("burst of 100,000", What.BURST, "10 k pending", count=100_000, quick=True),
    Scenario(
        "100,000 at one instant",
        What.BURST,
        "10 k pending",
        count=100_000,
        spread=0.0,
        quick=True,
    ),
    Scenario("hot key replaced 10,000 times", What.HOT, "10 k pending", count=10_000),
    Scenario("churn of 80 %", What.CHURN, "10 k pending", count=20_000, rate=2_000),
    Scenario("idle", What.IDLE, "10 k pending", seconds=60, quick=True),
    Scenario("kill -9 in mid-burst", What.KILL, "10 k pending", count=100_000, quick=True),
    Scenario("restart, 10 k pending", What.RESTART, "10 k pending", count=100),
    Scenario(
        "200,000 overdue at start", What.BACKLOG, "overdue", pending=0, count=200_000, quick=True
    ),
    _steady("1,000/s, 1 M pending", 1_000, "1 M pending", pending=MILLION, quick=True),
    Scenario(
        "100,000 at once, 1 M pending",
        What.FLOOD,
        "1 M pending",
        pending=MILLION,
        count=100_000,
        quick=True,
    ),
    Scenario(
        "1,000/s with a policy, 1 M pending",
        What.POLICY,
        "1 M pending",
        pending=MILLION,
        rate=1_000,
        seconds=40,
    ),
    Scenario("restart, 1 M pending", What.RESTART, "1 M pending", pending=MILLION, count=100),
    _steady(
        "1,000/s while folds run, 1 M pending",
        1_000,
        "folds",
        pending=MILLION,
        stores=DELTA,
        delta={"fold_rows": 20_000},
    ),
    _steady("1,000/s, 10 M pending", 1_000, "10 M pending", pending=TEN_MILLION, stores=DELTA),
    Scenario(
        "restart, 10 M pending",
        What.RESTART,
        "10 M pending",
        pending=TEN_MILLION,
        count=100,
        stores=DELTA,
    ),
    Scenario(
        "naive MERGE, 1 M pending",
        What.NAIVE,
        "naive",
        pending=MILLION,
        seconds=60,
        stores=DELTA,
    ),
    Scenario(
        "200,000 overdue, by two executors",
        What.EXECUTORS,
        "executors",
        pending=0,
        count=200_000,
        stores=DELTA,
    ),
)


def chosen(
    which: Literal["quick", "full", "trial"], stores: Sequence[Store], only: Sequence[str]
) -> list[tuple[Store, Scenario]]:
    """Return what is to be measured, store by store; names in ``only`` may be of any set."""
    wanted = [
        s for s in SCENARIOS if s.name in only or (not only and (which != "quick" or s.quick))
    ]
    sized = [_SIZES[which](s) for s in wanted]
    return [(store, each) for store in stores for each in sized if store in each.stores]


def _quick(scenario: Scenario) -> Scenario:
    ahead = QUICK_AHEAD if scenario.ahead == AHEAD else scenario.ahead
    return replace(scenario, seconds=scenario.seconds // QUICK_SHARE, ahead=ahead)


def _trial(scenario: Scenario) -> Scenario:
    """Make it so small that it measures nothing, and shows that it works."""
    small = {
        "pending": scenario.pending // 100,
        "rate": scenario.rate // 20,
        "count": max(scenario.count // 100, min(scenario.count, 10)),
    }
    ahead = AT_ONCE if scenario.ahead == AT_ONCE else (2.0, 4.0)
    return replace(scenario, seconds=min(scenario.seconds, 5), ahead=ahead, **small)


_SIZES = {"quick": _quick, "trial": _trial, "full": lambda scenario: scenario}
