from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.rules.policy import Policy
from state.rules.same_key import Ignore, Ignored, SameKey, SamePolicy, Standing, Take, judge

AT, DUE = 1_000, 5_000


def standing(policy=SamePolicy.REPLACE, compare=None, first=None, due=DUE, **same):
    return Standing(due, Policy(same=SameKey(policy, **same), compare=compare, first=first))


def number(value, least=None, field="$.t"):
    policy = SamePolicy.IGNORE_SMALL_CHANGE if least else SamePolicy.IGNORE_DUPLICATE
    return standing(policy, compare=value, compare_field=field, min_deviation=least)


@pytest.mark.parametrize("policy", list(SamePolicy))
def test_without_a_pending_one_every_event_is_taken(policy):
    assert isinstance(judge(None, standing(policy, compare="1", settle_for=5), AT), Take)


def test_replace_takes_the_new_one():
    new = standing(due=9)
    assert judge(standing(SamePolicy.KEEP), new, AT) == Take(9, new.policy)


def test_keep_ignores_the_new_one_whatever_the_pending_one_asked_for():
    assert judge(standing(), standing(SamePolicy.KEEP), AT) == Ignore(Ignored.KEPT_FIRST)


def test_a_duplicate_is_ignored_and_anything_else_is_taken():
    pending = standing(SamePolicy.IGNORE_DUPLICATE, compare="ab")
    same = standing(SamePolicy.IGNORE_DUPLICATE, compare="ab", due=9)
    assert judge(pending, same, AT) == Ignore(Ignored.DUPLICATE)
    other = standing(SamePolicy.IGNORE_DUPLICATE, compare="cd", due=9)
    assert judge(pending, other, AT) == Take(9, other.policy)


@pytest.mark.parametrize(
    ("pending", "new"),
    [
        (standing(), standing(SamePolicy.IGNORE_DUPLICATE, compare="1")),
        (number("1", field="$.a"), number("1", field="$.b")),
        (standing(SamePolicy.IGNORE_DUPLICATE, compare="1"), number("1")),
        (standing(), number("1", "5")),
        (number('"1"'), number("1", "5")),
        (number("#00ff"), number("1", "5")),
    ],
)
def test_a_pending_one_that_cannot_be_compared_counts_as_different(pending, new):
    assert isinstance(judge(pending, new, AT), Take)


@pytest.mark.parametrize(
    ("old", "new", "least", "small"),
    [
        ("20", "20.49", "0.5", True),
        ("20", "20.5", "0.5", False),
        ("20", "19.5", "0.5", False),
        ("20", "20", "0.5", True),
        ("-20", "-20.9", "5%", True),
        ("-20", "-21", "5%", False),
        ("200", "209.999999999999999999999999999999999", "5%", True),
        ("0", "0.0001", "5%", False),
        ("0", "0", "5%", True),
        ("1E+300", "1E-300", "1", False),
        ("12345678901234567890123.5", "12345678901234567890123.6", "0.1", False),
        ("12345678901234567890123.5", "12345678901234567890123.59", "0.1", True),
    ],
)
def test_a_change_is_small_when_it_is_less_than_the_least_deviation(old, new, least, small):
    verdict = judge(number(old), number(new, least), AT)
    assert verdict == Ignore(Ignored.SMALL_CHANGE) if small else isinstance(verdict, Take)


decimals = st.decimals(-1000, 1000, places=4).map(str)


@given(decimals, decimals, st.decimals("0.001", 500, places=3).map(str), st.booleans())
def test_deviations_are_reckoned_exactly(old, new, least, percent):
    bound = Fraction(least) * (abs(Fraction(old)) / 100 if percent else 1)
    change = abs(Fraction(new) - Fraction(old))
    verdict = judge(number(old), number(new, least + "%" * percent), AT)
    assert isinstance(verdict, Ignore) == (change < bound or change == 0)


def settle(policy=SamePolicy.SETTLE, **spans):
    return standing(policy, **spans)


def test_settle_waits_for_quiet_but_not_longer_than_its_maximum():
    new = settle(settle_for=10, settle_max=25)
    dues, pending = [], None
    for at in (100, 105, 112, 120):
        verdict = judge(pending, new, at)
        dues.append(verdict.due)
        pending = Standing(verdict.due, Policy.from_json(verdict.policy.to_json()))
    assert dues == [110, 115, 122, 125]
    assert pending.policy.first == 100


def test_debounce_has_no_maximum():
    pending = settle(SamePolicy.DEBOUNCE, first=100, settle_for=10)
    assert judge(pending, settle(SamePolicy.DEBOUNCE, settle_for=10), 10_000).due == 10_010


@given(st.lists(st.integers(-50, 50), max_size=6))
def test_throttle_never_moves_what_the_first_of_its_events_set(steps):
    new = settle(SamePolicy.THROTTLE, settle_for=10)
    verdict = judge(None, new, 100)
    for step in steps:
        verdict = judge(Standing(verdict.due, verdict.policy), new, 100 + step)
    assert verdict.due == 110


def test_a_series_begins_anew_after_an_event_that_does_not_settle():
    verdict = judge(standing(), settle(settle_for=10, settle_max=25), 100)
    assert (verdict.due, verdict.policy.first) == (110, 100)


def test_the_first_of_a_series_is_taken_from_the_pending_one_not_from_the_new_one():
    new = settle(settle_for=10, settle_max=25, first=120)
    verdict = judge(settle(settle_for=10, settle_max=25, first=100), new, 120)
    assert verdict == Take(125, replace(new.policy, first=100))
