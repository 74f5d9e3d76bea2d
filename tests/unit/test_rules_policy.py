import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.rules.policy import Policy
from state.rules.repeat import OnMiss, Repeat
from state.rules.same_policy import SameKey, SamePolicy

some = st.one_of(st.none(), st.integers(-(2**62), 2**62))
texts = st.one_of(st.none(), st.text(max_size=10))
repeats = st.builds(
    Repeat,
    every=some,
    cron=texts,
    tz=st.sampled_from(["UTC", "Europe/Berlin"]),
    until=some,
    count=some,
    anchor=st.integers(),
    on_miss=st.sampled_from(OnMiss),
)
sames = st.builds(
    SameKey, st.sampled_from(SamePolicy), texts, texts, settle_for=some, settle_max=some
)
policies = st.builds(
    Policy,
    retrymax=some,
    retryfor=some,
    expires=some,
    expireafter=some,
    repeat=st.one_of(st.none(), repeats),
    same=sames,
    first=some,
    compare=texts,
)


@given(policies)
def test_a_policy_is_read_as_it_was_written_and_written_as_it_was_read(policy):
    text = policy.to_json()
    assert Policy.from_json(text) == policy
    assert Policy.from_json(text).to_json() == text


def test_a_policy_that_asks_for_nothing_is_no_text():
    assert Policy().to_json() is None
    assert Policy.from_json(None) == Policy()
    assert Policy.from_json("{}").to_json() is None


def test_only_what_is_asked_for_is_written_in_one_order():
    repeat = Repeat(every=5, anchor=1)
    policy = Policy(retrymax=3, repeat=repeat, expires=9, same=SameKey(SamePolicy.KEEP))
    assert policy.to_json() == (
        '{"expires":9,"repeat":{"anchor":1,"every":5},"retrymax":3,"same":{"policy":"keep"}}'
    )


def test_retries_are_read_as_the_event_had_them_and_in_microseconds():
    raw = Policy.from_json('{"retrymax":"3","retryfor":"PT1H"}')
    assert raw == Policy(retrymax=3, retryfor=3_600_000_000)
    assert Policy.from_json(raw.to_json()) == raw


def test_what_another_part_wrote_there_stays():
    text = '{"expires":5,"shape":{"key":"k"}}'
    policy = Policy.from_json(text)
    assert policy.expires == 5
    assert json.loads(policy.without_repeat().to_json()) == json.loads(text)


def test_a_single_message_of_a_series_keeps_all_but_the_repeat():
    series = Policy(repeat=Repeat(every=5, anchor=1), expires=9, expireafter=8, retrymax=1)
    assert series.without_repeat() == Policy(expires=9, retrymax=1)


def test_each_occurrence_has_an_expiry_of_its_own():
    series = Policy(repeat=Repeat(every=5, anchor=1), expires=9, expireafter=8)
    assert series.at(6).expires == 14
    assert Policy(expires=9).at(6).expires == 9


def test_a_policy_is_a_json_object():
    with pytest.raises(ValueError, match="object"):
        Policy.from_json("[]")
