import itertools
import time
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from cron_reference import CHANGES, Expression, day, expressions, matches, micros
from cronsim import CronSim, CronSimError
from hypothesis import given, settings
from hypothesis import strategies as st

from state.rules.cron import count_matches, next_match, nth_match
from state.rules.cron_text import CronText, read_cron
from state.rules.zones import stretches


def following(expression: str, zone: str, after: datetime, upto: datetime) -> list[int]:
    found, at = [], next_match(expression, zone, micros(after))
    while at is not None and at <= micros(upto):
        found.append(at)
        at = next_match(expression, zone, at)
    return found


def at(*texts: str) -> list[int]:
    return [micros(datetime.fromisoformat(f"{text}Z")) for text in texts]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("30 9 * * MON-FRI", CronText(None, "30 9 * * MON-FRI", None)),
        ("  */15   *  *  jan,FEB *", CronText(None, "*/15 * * JAN,FEB *", None)),
        ("@hourly", CronText(None, "0 * * * *", None)),
        ("@Daily", CronText(None, "0 0 * * *", None)),
        ("@midnight", CronText(None, "0 0 * * *", None)),
        ("@weekly", CronText(None, "0 0 * * 0", None)),
        ("@monthly", CronText(None, "0 0 1 * *", None)),
        ("@yearly", CronText(None, "0 0 1 1 *", None)),
        ("@annually", CronText(None, "0 0 1 1 *", None)),
        ("@every 1h30m", CronText(None, None, 5_400_000_000)),
        ("CRON_TZ=Europe/Berlin 0 6 * * 7", CronText("Europe/Berlin", "0 6 * * 7", None)),
        ("TZ=UTC @daily", CronText("UTC", "0 0 * * *", None)),
        ("TZ=Asia/Tokyo @every 90s", CronText("Asia/Tokyo", None, 90_000_000)),
        ("0 0 30 2 *", CronText(None, "0 0 30 2 *", None)),
        ("0 0 LW * *", CronText(None, "0 0 LW * *", None)),
    ],
)
def test_an_expression_is_read(text, read):
    assert read_cron(text) == read


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 8",
        "*/0 * * * *",
        "5-1 * * * *",
        "a * * * *",
        "1, * * * *",
        "* * L/2 * 5L/2",
        "@never",
        "@every",
        "@every 0s",
        "@every soon",
        "@daily @daily",
        "CRON_TZ=Nowhere/City 0 0 * * *",
        "CRON_TZ=../UTC 0 0 * * *",
        "TZ=UTC",
        "0\t0 * * *",
        "\u0660 0 * * *",
        "0" * 5000 + " 0 * * *",
    ],
)
def test_what_is_no_expression_is_refused_with_a_way_out(text):
    with pytest.raises(ValueError, match=r"write|name one"):
        read_cron(text)


# What the clocks do: to the right, in UTC, all matches from noon of the day before for two days.
BERLIN_GAP = ("Europe/Berlin", "2026-03-28T12:00", "2026-03-30T12:00")  # 02:00 to 03:00
BERLIN_OVERLAP = ("Europe/Berlin", "2026-10-24T12:00", "2026-10-26T12:00")  # 03:00 to 02:00
LORD_HOWE_GAP = ("Australia/Lord_Howe", "2026-10-03T00:00", "2026-10-05T00:00")  # 02:00 to 02:30
LORD_HOWE_OVERLAP = ("Australia/Lord_Howe", "2026-04-04T00:00", "2026-04-06T00:00")
CAIRO_GAP = ("Africa/Cairo", "2026-04-23T12:00", "2026-04-25T12:00")  # 00:00 to 01:00
CAIRO_OVERLAP = ("Africa/Cairo", "2026-10-29T12:00", "2026-10-31T12:00")  # 24:00 to 23:00
APIA_GAP = ("Pacific/Apia", "2011-12-29T12:00", "2011-12-31T12:00")  # there was no 30 December


@pytest.mark.parametrize(
    ("change", "expression", "expected"),
    [
        (BERLIN_GAP, "30 2 * * *", ["2026-03-29T01:00", "2026-03-30T00:30"]),
        (BERLIN_GAP, "0,30 2,3 29 * *", ["2026-03-29T01:00", "2026-03-29T01:30"]),
        (BERLIN_GAP, "*/30 2 29 * *", []),
        (BERLIN_GAP, "0 */2 29 3 *", [f"2026-03-{d}" for d in (
            "28T23:00", "29T02:00", "29T04:00", "29T06:00", "29T08:00", "29T10:00",
            "29T12:00", "29T14:00", "29T16:00", "29T18:00", "29T20:00",
        )]),
        (BERLIN_OVERLAP, "30 2 * * *", ["2026-10-25T00:30", "2026-10-26T01:30"]),
        (BERLIN_OVERLAP, "*/30 2 25 * *", [f"2026-10-25T0{t}" for t in (
            "0:00", "0:30", "1:00", "1:30",
        )]),
        (LORD_HOWE_GAP, "15 2 * * *", ["2026-10-03T15:30", "2026-10-04T15:15"]),
        (LORD_HOWE_GAP, "*/15 2 4 * *", ["2026-10-03T15:30", "2026-10-03T15:45"]),
        (LORD_HOWE_OVERLAP, "45 1 * * *", ["2026-04-04T14:45", "2026-04-05T15:15"]),
        (LORD_HOWE_OVERLAP, "*/15 1 5 * *", [f"2026-04-04T{t}" for t in (
            "14:00", "14:15", "14:30", "14:45", "15:00", "15:15",
        )]),
        (LORD_HOWE_OVERLAP, "*/20 3 5 * *", [f"2026-04-04T{t}" for t in (
            "16:30", "16:50", "17:10",
        )]),
        (CAIRO_GAP, "0 0 * * *", ["2026-04-23T22:00", "2026-04-24T21:00"]),
        (CAIRO_GAP, "*/30 0 24 * *", []),
        (CAIRO_OVERLAP, "30 23 * * *", ["2026-10-29T20:30", "2026-10-30T21:30"]),
        (CAIRO_OVERLAP, "*/30 23 29 * *", [f"2026-10-29T{t}" for t in (
            "20:00", "20:30", "21:00", "21:30",
        )]),
        (APIA_GAP, "0 12 * * *", ["2011-12-29T22:00", "2011-12-30T10:00", "2011-12-30T22:00"]),
        (APIA_GAP, "0 */12 30 * *", []),
    ],
)  # fmt: skip
def test_where_the_clocks_are_changed_a_fixed_time_runs_once_and_a_star_follows_the_clock(
    change, expression, expected
):
    zone, after, upto = change
    found = following(expression, zone, day(after), day(upto))
    assert found == at(*expected)
    began = micros(day(after))
    assert count_matches(expression, zone, began, micros(day(upto))) == len(expected)
    assert [nth_match(expression, zone, began, n + 1) for n in range(len(expected))] == found


@pytest.mark.parametrize(
    ("zone", "after", "expression", "expected"),
    [
        ("Europe/Berlin", "2026-10-25T01:10", "30 2 * * *", "2026-10-26T01:30"),
        ("Australia/Lord_Howe", "2026-04-04T15:05", "45 1 * * *", "2026-04-05T15:15"),
        ("Africa/Cairo", "2026-10-29T21:10", "30 23 * * *", "2026-10-30T21:30"),
        ("America/St_Johns", "2010-11-07T02:35", "0 0 * * *", "2010-11-08T03:30"),
    ],
)
def test_asked_in_an_hour_that_is_shown_again_a_fixed_time_has_run(
    zone, after, expression, expected
):
    assert next_match(expression, zone, micros(day(after))) == micros(day(expected))


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(CHANGES), expressions(), st.integers(-1440, 1440))
def test_matches_are_those_found_minute_by_minute(change, expression, minutes):
    zone, date = change
    after = day(date) + timedelta(minutes=minutes)
    upto = day(date) + timedelta(days=2)
    expected = matches(expression, zone, after, upto)
    found = following(str(expression), zone, after, upto)[: len(expected) + 1]
    assert found == expected
    assert all(a < b for a, b in itertools.pairwise([micros(after), *found]))
    assert count_matches(str(expression), zone, micros(after), micros(upto)) == len(expected)


@pytest.mark.parametrize("change", CHANGES, ids=" ".join)
@pytest.mark.parametrize(
    "text", ["* * * * *", "0-59 * * * *", "0-59 0-23 * * *", "7,37 0-4,23 * * *"]
)
def test_at_every_change_of_the_clocks_matches_are_those_found_minute_by_minute(change, text):
    zone, date = change
    expression = every_minute(text)
    after, upto = day(date) - timedelta(days=1), day(date) + timedelta(days=1)
    found = following(text, zone, after, upto)
    assert found == matches(expression, zone, after, upto)


def every_minute(text: str):
    minutes = frozenset({7, 37}) if text.startswith("7") else frozenset(range(60))
    hours = frozenset({0, 1, 2, 3, 4, 23}) if text.startswith("7") else frozenset(range(24))
    every = (frozenset(range(1, 32)), frozenset(range(1, 13)), frozenset(range(7)))
    return Expression(tuple(text.split()), (minutes, hours, *every))


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Africa/Cairo", "UTC"]),
    expressions(),
    st.datetimes(datetime(2000, 1, 1), datetime(2035, 1, 1)),  # noqa: DTZ001  of the zone below
)
def test_the_library_finds_the_same_matches(zone, expression, naive):
    after = naive.replace(microsecond=0, tzinfo=ZoneInfo(zone)).astimezone(UTC)
    simulated = (
        CronSim(str(expression), after.astimezone(ZoneInfo(zone))) if _valid(expression) else []
    )
    # Asked for a time within an hour shown twice, the library may answer with an earlier one.
    expected = [micros(m.astimezone(UTC)) for m in itertools.islice(simulated, 60)]
    expected = [m for m in expected if m > micros(after)]
    found = [nth_match(str(expression), zone, micros(after), n + 1) for n in range(len(expected))]
    assert found == expected


def _valid(expression) -> bool:
    try:
        CronSim(str(expression), datetime(2000, 1, 1, tzinfo=UTC))
    except CronSimError:  # a day that its month never has
        return False
    return True


@given(st.sampled_from(CHANGES), expressions(), st.integers(1, 500))
@settings(max_examples=60, deadline=None)
def test_the_nth_match_is_that_after_n_steps_and_so_many_are_counted(change, expression, n):
    zone, date = change
    after = micros(day(date)) - 86_400_000_000
    stepped = after
    for _ in range(min(n, 40)):
        step = next_match(str(expression), zone, stepped)
        if step is None:
            assert nth_match(str(expression), zone, after, n) is None
            return
        stepped = step
    assert nth_match(str(expression), zone, after, min(n, 40)) == stepped
    assert count_matches(str(expression), zone, after, stepped) == min(n, 40)


@pytest.mark.parametrize("expression", ["0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 31 2 */2"])
def test_what_never_comes_up_is_found_out_at_once(expression):
    started = time.monotonic()
    assert next_match(expression, "Europe/Berlin", micros(day("2026-01-01"))) is None
    assert time.monotonic() - started < 2


def test_rare_days_are_found():
    found = next_match("0 0 * 2 MON#5", "UTC", micros(day("2026-01-01")))
    assert found == micros(day("2044-02-29"))
    assert next_match("0 0 29 2 *", "UTC", micros(day("2097-01-01"))) == micros(day("2104-02-29"))


def test_matches_of_fifty_years_are_counted_at_once():
    began, ends = micros(day("1980-01-01")), micros(day("2030-01-01"))
    started = time.monotonic()
    count = count_matches("* * * * *", "Europe/Berlin", began, ends)
    assert count == (ends - began) // 60_000_000
    assert time.monotonic() - started < 2


def test_a_match_is_found_further_away_than_one_is_looked_for():
    start = micros(day("1980-01-01"))
    for n in (18_000, 18_300, 18_301, 36_600, 40_000):
        found = nth_match("0 0 * * *", "UTC", start, n)
        assert found == start + n * 86_400_000_000


def test_an_instant_far_outside_the_calendar_has_no_match():
    assert next_match("* * * * *", "UTC", 4 * 10**18) is None
    assert next_match("* * * * *", "Asia/Tokyo", -(10**18)) is None


def test_a_match_is_strictly_after_to_the_microsecond():
    noon = micros(day("2026-06-01T12:00"))
    assert next_match("0 12 * * *", "UTC", noon - 1) == noon
    assert next_match("0 12 * * *", "UTC", noon) == noon + 86_400_000_000


def test_the_prefix_of_an_expression_does_not_change_the_zone_it_is_asked_for():
    noon = micros(day("2026-06-01T12:00"))
    assert next_match("CRON_TZ=Asia/Tokyo 0 12 * * *", "UTC", noon - 1) == noon


def test_the_clocks_of_a_zone_are_followed_over_the_borders_of_what_is_kept():
    began, ends = 0, 4_000_000_000
    parts = list(stretches("Europe/London", began, ends))
    assert parts[0].begins == began and parts[-1].ends == ends
    assert all(a.ends == b.begins and a.offset != b.offset for a, b in itertools.pairwise(parts))
    for begins, stop, offset in parts:
        for second in (begins, stop - 1):
            shown = datetime.fromtimestamp(second, ZoneInfo("Europe/London"))
            assert shown.utcoffset() == timedelta(seconds=offset)
