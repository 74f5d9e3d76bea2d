"""Measures one scenario on its stage: what came of it, what it cost, where its ticks went."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bench.acts import ACTS
from bench.late import by_fold
from bench.proc import tree
from bench.sample import Sampler
from bench.scenarios import Scenario, What
from bench.stage import Stage

STAGES = ("plan", "read", "decide", "commit", "hand_over", "maintain")
_QUIET = 3.0  # seconds
_LONGEST_FOLD = 180.0
_REPLAYED = 10.0  # seconds: a batch that was planned by the run before a restart


def measure(stage: Stage, scenario: Scenario, servers: Mapping[str, int]) -> dict[str, Any]:
    """Play it and return all figures; what an earlier one left to be folded is none of it."""
    _settle(stage)
    taken = len(stage.job.ticks())
    with Sampler(lambda: stage.job.pid, servers) as sampler:
        report = ACTS[scenario.what](stage, scenario)
    figures = report | sampler.figures(int(report.get("records", report.get("messages", 0))))
    figures |= _ticks(stage.job.ticks()[taken:], scenario)
    if sampler.folds and report.get("messages"):
        figures |= by_fold(*stage.seen(), sampler.folds)
    return figures


def _settle(stage: Stage) -> None:
    """Wait until no fold has been at work for a while."""
    quiet_since, give_up = time.monotonic(), time.monotonic() + _LONGEST_FOLD
    while (pid := stage.job.pid) is not None and time.monotonic() < give_up:
        if any(process.part == "fold" for process in tree(pid)):
            quiet_since = time.monotonic()
        if time.monotonic() - quiet_since > _QUIET:
            return
        time.sleep(0.5)


def _ticks(ticks: Sequence[Mapping[str, float]], scenario: Scenario) -> dict[str, Any]:
    """Return how long ticks took, and their stages on average, in milliseconds."""
    idle = scenario.what is What.IDLE
    served = [tick for tick in ticks if idle or tick["commands"] or tick["claims"]]
    busy = [tick for tick in served if tick["plan"] < _REPLAYED]
    if not busy:
        return {}
    times = np.array([tick["seconds"] for tick in busy]) * 1000
    stages = {
        name: round(1000 * float(np.mean([tick.get(name, 0.0) for tick in busy])), 1)
        for name in STAGES
    }
    quantiles = {f"p{q}": round(float(np.percentile(times, q)), 1) for q in (50, 95)}
    return {"ticks": len(busy), "tick_ms": quantiles, "stage_ms": stages}
