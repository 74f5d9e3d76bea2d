import itertools
import time
from datetime import timedelta

import pytest
from cron_reference import CHANGES, day, expressions, matches, micros
from hypothesis import given, settings
from hypothesis import strategies as st

from state.rules.repeat import (
    Following,
    OnMiss,
    Repeat,
    following,
    missed_from,
    occurrences,
)

SECOND = 1_000_000
HOUR = 3_600 * SECOND
YEAR = 365 * 24 * HOUR


def step_by_step(series, repeat, occurrence, now, miss_after):
    """Say what follows, from the whole series written down up to well after ``now``."""
    if repeat.until is not None:
        series = [instant for instant in series if instant <= repeat.until]
    series = series[: repeat.count]
    rest = list(enumerate(series))[occurrence + 1 :]
    missed = [pair for pair in rest if now - pair[1] > miss_after]
    if repeat.on_miss is OnMiss.SKIP:
        candidates = [pair for pair in rest if pair not in missed]
    elif repeat.on_miss is OnMiss.LAST and missed:
        candidates = missed[-1:]
    else:
        candidates = rest
    if not candidates:
        return None
    number, instant = candidates[0]
    return Following(instant, number, number - occurrence - 1)


limits = st.one_of(st.none(), st.integers(1, 40))


@settings(max_examples=400, deadline=None)
@given(
    every=st.integers(1, 1000),
    anchor=st.integers(-5000, 5000),
    occurrence=st.integers(0, 25),
    count=limits,
    until=st.one_of(st.none(), st.integers(0, 20_000)),
    on_miss=st.sampled_from(OnMiss),
    late=st.integers(-3000, 20_000),
    miss_after=st.integers(0, 3000),
)
def test_an_interval_goes_on_as_it_does_step_by_step(
    every, anchor, occurrence, count, until, on_miss, late, miss_after
):
    until = None if until is None else anchor + until
    repeat = Repeat(every=every, anchor=anchor, count=count, until=until, on_miss=on_miss)
    scheduled = anchor + occurrence * every
    now = scheduled + late
    series = [anchor + k * every for k in range(occurrence + 2 + max(0, late) // every + 5)]
    expected = step_by_step(series, repeat, occurrence, now, miss_after)
    assert following(repeat, scheduled, occurrence, now, miss_after) == expected


@settings(max_examples=100, deadline=None)
@given(
    change=st.sampled_from(CHANGES),
    expression=expressions(),
    start=st.integers(0, 20),
    occurrence=st.integers(0, 20),
    count=limits,
    end=st.one_of(st.none(), st.integers(0, 30)),
    on_miss=st.sampled_from(OnMiss),
    late=st.integers(0, 2 * 24 * 60),
    miss_after=st.integers(0, 600),
)
def test_a_cron_goes_on_as_it_does_step_by_step(
    change, expression, start, occurrence, count, end, on_miss, late, miss_after
):
    zone, date = change
    anchor = day(date) - timedelta(hours=start, seconds=7)  # no match itself
    begins = anchor - timedelta(seconds=53)
    found = matches(expression, zone, begins, day(date) + timedelta(days=2))
    series = [micros(anchor), *found]
    occurrence = min(occurrence, len(series) - 1)
    scheduled = series[occurrence]
    now = min(scheduled + late * 60 * SECOND, micros(day(date)) + 24 * HOUR)
    until = None if end is None else series[min(end, len(series) - 1)]
    repeat = Repeat(
        cron=str(expression), tz=zone, anchor=series[0], count=count, until=until, on_miss=on_miss
    )
    expected = step_by_step(series, repeat, occurrence, now, miss_after * 60 * SECOND)
    answer = following(repeat, scheduled, occurrence, now, miss_after * 60 * SECOND)
    if expected is None and answer is not None:  # beyond what was written down
        assert answer.scheduled > micros(day(date)) + 48 * HOUR
    else:
        assert answer == expected


@settings(max_examples=100, deadline=None)
@given(
    st.one_of(
        st.integers(SECOND, HOUR).map(lambda every: {"every": every}),
        st.sampled_from(["*/7 * * * *", "30 2 * * *", "15 1-3 * * MON"]).map(lambda c: {"cron": c}),
    ),
    st.sampled_from(OnMiss),
    st.lists(st.integers(0, 40 * HOUR), max_size=12),
)
def test_a_series_sent_late_has_the_instants_and_numbers_of_one_sent_in_time(how, on_miss, delays):
    tz = "Europe/Berlin" if "cron" in how else "UTC"
    start = micros(day("2026-03-27"))
    repeat = Repeat(**how, tz=tz, anchor=start, on_miss=on_miss)
    present = Following(start, 0, 0)
    for delay in delays:
        before = present
        after = following(
            repeat, before.scheduled, before.occurrence, before.scheduled + delay, HOUR
        )
        assert after is not None
        present = after
        assert present.skipped == present.occurrence - before.occurrence - 1
    in_time = itertools.islice(occurrences(repeat, start), present.occurrence, None)
    assert next(in_time)[:2] == present[:2]


def test_a_tenth_of_a_second_after_a_year_of_rest_answers_at_once():
    repeat = Repeat(every=100_000, anchor=0, on_miss=OnMiss.SKIP)
    started = time.monotonic()
    assert following(repeat, 0, 0, YEAR, 0) == Following(YEAR, YEAR // 100_000, YEAR // 100_000 - 1)
    assert time.monotonic() - started < 0.1


def test_every_minute_after_ten_years_of_rest_is_numbered_exactly_and_at_once():
    repeat = Repeat(cron="* * * * *", tz="Europe/Berlin", anchor=0)
    started = time.monotonic()
    minutes = 10 * YEAR // (60 * SECOND)
    found = following(repeat, 0, 0, 10 * YEAR + 1, 0)
    assert found == Following(10 * YEAR, minutes, minutes - 1)
    assert time.monotonic() - started < 1


@pytest.mark.parametrize(
    ("on_miss", "expected"),
    [
        (OnMiss.ALL, Following(10, 1, 0)),
        (OnMiss.LAST, Following(70, 7, 6)),
        (OnMiss.SKIP, Following(80, 8, 7)),
    ],
)
def test_what_is_missed_is_more_than_the_grace_before_now(on_miss, expected):
    repeat = Repeat(every=10, anchor=0, on_miss=on_miss)
    assert following(repeat, 0, 0, now=85, miss_after=5) == expected


@pytest.mark.parametrize("end", [{"count": 4}, {"until": 30}, {"until": 39}])
def test_a_series_that_ended_meanwhile_ends_with_its_last_or_is_skipped(end):
    last = Repeat(every=10, anchor=0, **end)
    assert following(last, 0, 0, 1000, 0) == Following(30, 3, 2)
    assert following(last, 30, 3, 1000, 0) is None
    skip = Repeat(every=10, anchor=0, on_miss=OnMiss.SKIP, **end)
    assert following(skip, 0, 0, 1000, 0) is None


def test_an_end_is_part_of_the_series():
    repeat = Repeat(every=10, anchor=0, until=20)
    assert [f.scheduled for f in occurrences(repeat, 0)] == [0, 10, 20]


def test_a_count_is_that_of_all_occurrences_and_the_first_is_one_of_them():
    assert [f[:2] for f in occurrences(Repeat(every=10, anchor=5, count=3), 5)] == [
        (5, 0),
        (15, 1),
        (25, 2),
    ]
    assert list(occurrences(Repeat(every=10, anchor=5, count=1), 5)) == [Following(5, 0, 0)]


def test_a_preview_shows_as_many_as_asked_for():
    start = micros(day("2026-10-24T00:30"))
    repeat = Repeat(cron="30 2 * * *", tz="Europe/Berlin", anchor=start)
    days = [f.scheduled for f in occurrences(repeat, start, limit=4)]
    assert days == [start + h * HOUR for h in (0, 24, 49, 73)]


def test_a_series_ends_where_its_occurrences_can_no_longer_be_numbered():
    tiny = Repeat(every=100_000, anchor=0)
    assert following(tiny, 0, 0, now=10**18, miss_after=0) is None
    vast = Repeat(every=10**18, anchor=0)
    assert following(vast, 3 * 10**18, 3, now=0, miss_after=0).occurrence == 4
    assert following(vast, 4 * 10**18, 4, now=0, miss_after=0) is None


@given(
    every=st.integers(1, 1000),
    occurrence=st.integers(0, 25),
    count=limits,
    on_miss=st.sampled_from(OnMiss),
    late=st.integers(-3000, 20_000),
    miss_after=st.integers(0, 3000),
)
def test_an_occurrence_is_sent_unless_it_is_missed_and_not_the_newest_of_these(
    every, occurrence, count, on_miss, late, miss_after
):
    repeat = Repeat(every=every, anchor=0, count=count, on_miss=on_miss)
    now = occurrence * every + late
    ends = missed_from(repeat, occurrence * every, occurrence, miss_after)
    is_missed, is_next_missed = (now - n * every > miss_after for n in (occurrence, occurrence + 1))
    is_last = count is not None and occurrence + 1 >= count
    sent = {
        OnMiss.ALL: True,
        OnMiss.LAST: is_last or not is_next_missed,
        OnMiss.SKIP: not is_missed,
    }
    assert (ends is None or now < ends) == sent[on_miss]
