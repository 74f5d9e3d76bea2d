"""What the soak calls growth, and how it accounts for messages."""

import random

import numpy as np
import pytest

from bench.soak_audit import Account, account
from bench.soak_load import SURE_MS, Asked
from bench.soak_observer import SEEN
from bench.soak_verdict import FEWEST, JUDGED, WARM, Sample, trend, verdict
from state.inspect import Ledger, Status

SECONDS = [float(second) for second in range(0, 600, 10)]


def noisy(line: list[float], by: float) -> list[float]:
    chance = random.Random(7)
    return [value + chance.uniform(-by, by) for value in line]


def test_what_rises_steadily_grows() -> None:
    assert trend(SECONDS, noisy([100 + second / 5 for second in SECONDS], 5)).grows


def test_what_goes_up_and_down_does_not_grow() -> None:
    teeth = [100 + second % 120 for second in SECONDS]
    assert not trend(SECONDS, teeth).grows


def test_a_few_outliers_are_not_growth() -> None:
    values = noisy([100.0] * len(SECONDS), 3)
    values[-2:] = [9000.0, 8000.0]
    assert not trend(SECONDS, values).grows


def test_a_small_rise_is_within_the_bound_that_is_stated() -> None:
    assert not trend(SECONDS, [1000 + second / 6 for second in SECONDS]).grows


def test_few_samples_say_nothing() -> None:
    found = trend(SECONDS[: FEWEST - 1], [float(n * n) for n in range(FEWEST - 1)])
    assert (found.grows, found.said) == (False, "too few samples")


def test_only_the_last_half_counts_and_memory_only_of_lives_that_are_warm() -> None:
    samples: list[Sample] = [
        dict.fromkeys(JUDGED, 50.0) | {"second": second, "life": WARM + second % 100 - 50}
        for second in SECONDS
    ]
    for sample in samples:
        sample["files"] = min(sample["second"] or 0.0, 290.0)  # levels off
        sample["jvm_mb"] = 50.0 if (sample["life"] or 0.0) >= WARM else sample["second"]
    found = verdict(samples, until=600, store="delta")
    assert not any(each.grows for each in found.values())
    assert "files" not in verdict(samples, until=600, store="mongo")
    assert found["jvm_mb"].samples < found["files"].samples == 30


def ledger(**ends: int) -> Ledger:
    known = {status: ends.get(status.value, 0) for status in Status}
    return Ledger(sum(ends.values()), known, rejected=1, late_cancels=0)


@pytest.fixture
def asked() -> Asked:
    """One message, one repeat of two, one that was withdrawn in time, and a bad one."""
    asked = Asked(bad=1)
    asked.new(due=1000)
    asked.new(due=2000, count=2, every=500)
    asked.withdrawn[asked.new(due=SURE_MS + 1)] = 1
    return asked


RIGHT = [(0, 1, 1000, 1001), (1, 1, 2000, 2000), (1, 2, 2500, 2600)]


def found(asked: Asked, seen: list[tuple[int, int, int, int]], dead: int = 1) -> dict[str, int]:
    told = ledger(done=len(seen), cancelled=asked.accepted - len(seen))
    return account(asked, np.array(seen, SEEN), told, dead).faults()


def test_what_came_out_as_asked_is_no_fault(asked: Asked) -> None:
    assert found(asked, RIGHT) == {}


def test_each_fault_is_found(asked: Asked) -> None:
    assert found(asked, RIGHT[1:]) == {"lost": 1}
    assert found(asked, RIGHT[:2]) == {"lost": 1}
    assert found(asked, [*RIGHT, (2, 1, SURE_MS + 1, SURE_MS + 1)]) == {"unwanted": 1}
    assert found(asked, [(0, 1, 1000, 999), *RIGHT[1:]]) == {"early": 1}
    assert found(asked, [*RIGHT, RIGHT[0]]) == {"twice": 1}
    assert found(asked, [*RIGHT, (9, 1, 1, 1)]) == {"unknown": 1}
    assert found(asked, RIGHT, dead=0) == {"dead": 1}


def test_a_ledger_that_does_not_close_is_a_fault(asked: Asked) -> None:
    told = ledger(done=2)
    faults = account(asked, np.array(RIGHT, SEEN), told, 1).faults()
    assert faults == {"miscounted": 3}  # two accepted too few, one done too few
    assert set(faults) <= {each for each in Account.__dataclass_fields__}
