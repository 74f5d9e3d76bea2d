"""What the steps tell becomes figures, and no observer can do harm."""

import logging
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from pipeline.observe import catalogue as the
from pipeline.observe.figures import FiguresObserver
from pipeline.observe.observer import Flushed, Lanes, Observer, Observers, Settled, Standing, Ticked
from pipeline.observe.tallies import MOST_SETS, OVERFLOW, Tallies
from state import row
from state.figures import Figures, Fold
from state.resolve import Counts
from state.row import Status

SECOND = 1_000_000
NOW = 1_000 * SECOND


@pytest.fixture
def tallies() -> Tallies:
    return Tallies()


@pytest.fixture
def observer(tallies: Tallies) -> FiguresObserver:
    return FiguresObserver(tallies, lambda: NOW)


def numbers(tallies: Tallies, metric: the.Metric) -> dict:
    [kept] = [each for each in tallies.all() if each.metric is metric]
    return kept.numbers


def counts(tallies: Tallies, metric: the.Metric, *named: tuple[str, str]) -> dict[float, int]:
    """How many values fell into each bucket that has any, by its upper end."""
    [kept] = [each for each in tallies.all() if each.metric is metric]
    ends = (*metric.bounds, float("inf"))
    found = zip(ends, kept.sizes[named].counts.tolist(), strict=True)
    return {end: count for end, count in found if count}


def commands(*lines: dict) -> pa.Table:
    return pa.Table.from_pylist(list(lines), schema=row.COMMANDS)


def ticked(figures: Figures | None = None, next_due: int | None = None, **said) -> Ticked:
    usual = {"ended_at": NOW, "seconds": 0.3, "stages": {}, "lookahead": 0}
    standing = None if figures is None else Standing(figures, next_due)
    return Ticked(**(usual | said), standing=standing)


def test_what_comes_in_is_counted_by_topic_and_reason(
    tallies: Tallies, observer: FiguresObserver
) -> None:
    observer.taken(
        commands(
            {"entry": "put", "source_topic": "a", "superseded": 2},
            {"entry": "put", "source_topic": "b"},
            {"entry": "ignored", "source_topic": "b"},
            {"entry": "cancel", "source_topic": "b", "superseded": 1},
            {"entry": "command", "source_topic": "b"},
            {"entry": "reject", "source_topic": "a", "reason": "invalid_json"},
            {"entry": "reject", "source_topic": "a", "reason": "invalid_json"},
            {"entry": "reject", "source_topic": "a", "reason": "missing_key"},
        )
    )
    assert numbers(tallies, the.ACCEPTED) == {(("topic", "a"),): 3, (("topic", "b"),): 3}
    assert numbers(tallies, the.REJECTED) == {
        (("topic", "a"), ("reason", "invalid_json")): 2,
        (("topic", "a"), ("reason", "missing_key")): 1,
    }


def test_what_goes_out_is_counted_by_topic_and_lateness(
    tallies: Tallies, observer: FiguresObserver
) -> None:
    out = pa.table(
        {
            row.KIND: ["message", "message", "message", "rejection"],
            row.OUTPUT_TOPIC: ["x", "x", "y", "dead"],
            row.SCHEDULED: [NOW - 4_000, NOW - 3_600 * SECOND, NOW + 50, NOW - SECOND],
            row.PUBLISHED_AT: [NOW] * 4,
        }
    )
    decided = [
        (Status.PENDING, "unknown_topic"),
        (Status.PENDING, "unknown_topic"),
        (Status.DEAD, "too_large_for_topic"),
        (Status.EXPIRED, "expired"),
    ]
    observer.settled(lambda: Settled(out, decided))
    assert numbers(tallies, the.PUBLISHED) == {(("topic", "x"),): 2, (("topic", "y"),): 1}
    assert counts(tallies, the.LATENESS) == {0.001: 1, 0.005: 1, 3600.0: 1}
    retried, dead = numbers(tallies, the.RETRIED), numbers(tallies, the.DEAD)
    assert {reason: count for reason, count in retried.items() if count} == {
        (("reason", "unknown_topic"),): 2
    }
    assert {reason: count for reason, count in dead.items() if count} == {
        (("reason", "too_large_for_topic"),): 1
    }
    assert dead[(("reason", "unknown_topic"),)] == 0, "an alert needs a zero to begin with"
    assert numbers(tallies, the.EXPIRED) == {(): 1}


def test_times_of_ticks_stages_and_flushes_are_kept_by_size(
    tallies: Tallies, observer: FiguresObserver
) -> None:
    observer.flushed(Flushed(0, NOW, NOW + 30_000, lambda: iter(())))
    observer.ticked(ticked(stages={"read": 0.2, "commit": 0.004}, lookahead=2 * SECOND))
    assert counts(tallies, the.TICK) == {0.5: 1}
    assert counts(tallies, the.STAGE, ("stage", "commit")) == {0.005: 1}
    assert counts(tallies, the.FLUSH) == {0.05: 1}
    assert numbers(tallies, the.LAST_TICK) == {(): 1_000.0}
    assert numbers(tallies, the.LOOKAHEAD) == {(): 2.0}


def test_what_waits_is_looked_at_when_it_is_asked_for(
    tallies: Tallies, observer: FiguresObserver
) -> None:
    lanes = [Lanes(waiting=7, held=1, overdue=2, least_due=NOW - 3 * SECOND)]
    observer.began(lambda: lanes[0], lambda: None)
    observer.ticked(ticked(Figures(40, 5, Counts()), next_due=NOW + SECOND))
    assert numbers(tallies, the.OVERDUE) == {(): 7}
    assert numbers(tallies, the.OVERDUE_AGE) == {(): 3.0}
    assert numbers(tallies, the.NEXT_DUE) == {(): 997.0}
    assert numbers(tallies, the.PENDING) == {(): 40}
    assert (numbers(tallies, the.WAITING), numbers(tallies, the.HELD)) == ({(): 7}, {(): 1})
    lanes[0] = Lanes(0, 0, 0, None)
    assert numbers(tallies, the.NEXT_DUE) == {(): 1_001.0}
    observer.ticked(ticked())
    assert numbers(tallies, the.NEXT_DUE) == {(): 1_001.0}  # the state was not looked at
    observer.ticked(ticked(Figures(0, 0, Counts())))
    assert numbers(tallies, the.OVERDUE_AGE) == {(): 0.0}
    assert numbers(tallies, the.NEXT_DUE) == {}


def test_totals_of_a_state_count_from_where_the_job_found_them(
    tallies: Tallies, observer: FiguresObserver
) -> None:
    for cancelled in (1_000, 1_000, 1_007, 1_003):  # never backwards
        totals = Counts(ends=Counter({Status.CANCELLED: cancelled}))
        observer.ticked(ticked(Figures(0, 0, totals)))
    assert numbers(tallies, the.CANCELLED) == {(): 7}


def test_a_fold_is_counted_once(tallies: Tallies, observer: FiguresObserver) -> None:
    for number in (1, 1, 2):
        fold = Fold(number, NOW, 2.0)
        observer.ticked(ticked(Figures(0, 0, Counts(), fold, unfolded=9)))
    assert counts(tallies, the.FOLD) == {2.5: 2}
    assert numbers(tallies, the.UNFOLDED) == {(): 9}


def test_a_value_at_a_bound_is_in_the_bucket_below(tallies: Tallies) -> None:
    tallies.record(the.LATENESS, np.array(the.LATENESS_BOUNDS))
    assert counts(tallies, the.LATENESS) == dict.fromkeys(the.LATENESS_BOUNDS, 1)


def test_more_topics_than_anybody_can_plot_are_counted_together(tallies: Tallies) -> None:
    for number in range(MOST_SETS + 5):
        tallies.add(the.PUBLISHED, 1, topic=str(number))
    assert numbers(tallies, the.PUBLISHED)[OVERFLOW] == 5


def test_an_observer_that_fails_is_told_once_and_harms_nobody(
    tallies: Tallies, observer: FiguresObserver, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Observer):
        def ticked(self, tick: Ticked) -> None:
            raise OSError("no more")

    both = Observers([Broken(), observer])
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            both.ticked(ticked())
        both.settled(lambda: 1 / 0)
    assert counts(tallies, the.TICK) == {0.5: 3}
    assert [record.levelname for record in caplog.records] == ["WARNING"] * 2
    assert "the job goes on: ticked of Broken failed" in caplog.text
