from hashlib import sha256

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from state.rules.asked import ATTRIBUTES, Asked, Refused, Why, read_asked
from state.rules.policy import Policy
from state.rules.repeat import OnMiss, Repeat
from state.rules.same_policy import SameKey, SamePolicy

SECOND = 1_000_000
HOUR = 3_600 * SECOND
SENT = 1_767_225_600_000_000  # 2026-01-01T00:00:00Z
DUE = SENT + HOUR
PAYLOAD = b'{"t": 21.50, "name": "x", "long": "' + b"y" * 300 + b'", "huge": 1e999}'


def read(due=DUE, payload=PAYLOAD, names=None, allow_forever=False, **asked):
    return read_asked(
        asked,
        names=names,
        due=due,
        timestamp=SENT,
        payload=payload,
        allow_forever=allow_forever,
    )


def repeats(**asked):
    found = read(**asked)
    assert isinstance(found, Asked), found
    return found.policy.repeat


def same(**asked):
    found = read(**asked)
    assert isinstance(found, Asked), found
    return found.policy


def test_an_event_that_asks_for_nothing_is_due_when_it_says_or_when_it_was_sent():
    assert read() == Asked(Policy(), DUE)
    assert read(due=None) == Asked(Policy(), SENT)


def test_retries_and_expiries_are_read():
    asked = read(retrymax="0", retryfor="PT1H", expirytime="2026-01-01T02:00:00+00:30")
    assert asked == Asked(Policy(retrymax=0, retryfor=HOUR, expires=DUE + HOUR // 2), DUE)
    assert read(expireafter="90s").policy.expires == DUE + 90 * SECOND


def test_each_occurrence_expires_so_long_after_its_instant():
    policy = read(expireafter="90s", repeatevery="1h", repeatcount="3").policy
    assert policy.expires == DUE + 90 * SECOND
    assert policy.at(DUE + HOUR).expires == DUE + HOUR + 90 * SECOND


def test_an_interval_is_anchored_at_the_first_occurrence():
    assert repeats(repeatevery="PT1H", repeatcount="3") == Repeat(every=HOUR, count=3, anchor=DUE)
    assert repeats(repeatevery="100ms", repeatfor="P1D", due=None) == Repeat(
        every=100_000, until=SENT + 24 * HOUR, anchor=SENT
    )


def test_a_cron_begins_with_its_first_match_or_with_the_time_of_delivery():
    asked = {"repeatcron": "30 9 * * *", "repeattz": "Europe/Berlin", "repeatcount": "2"}
    by_match = read(due=None, **asked)
    assert by_match.due == SENT + 8 * HOUR + HOUR // 2
    assert by_match.policy.repeat == Repeat(
        cron="30 9 * * *", tz="Europe/Berlin", count=2, anchor=by_match.due
    )
    given = read(**asked)
    assert given.due == given.policy.repeat.anchor == DUE


def test_a_zone_may_stand_before_the_expression_and_every_is_an_interval():
    assert repeats(repeatcron="TZ=Asia/Tokyo @daily", repeatcount="1").tz == "Asia/Tokyo"
    every = repeats(repeatcron="CRON_TZ=Asia/Tokyo @every 1h", onmiss="skip", repeatcount="1")
    assert every == Repeat(every=HOUR, count=1, anchor=DUE, on_miss=OnMiss.SKIP)


def test_an_end_may_be_the_first_occurrence_itself():
    assert repeats(repeatevery="1h", repeatuntil="2026-01-01T01:00:00Z").until == DUE


def test_a_repeat_without_an_end_needs_leave():
    assert repeats(repeatevery="1h", allow_forever=True) == Repeat(every=HOUR, anchor=DUE)
    refused = read(repeatevery="1h")
    assert refused.reason is Why.ENDLESS_REPEAT
    for name in ("repeatcount", "repeatuntil", "repeatfor", "schedules.endless_repeats"):
        assert name in refused.sentence


def test_what_a_later_event_is_compared_with_is_in_the_policy():
    digest = sha256(PAYLOAD).hexdigest()[:32]
    assert same(onsameid="ignoreduplicate").compare == digest
    assert same(onsameid="ignoreduplicate", payload=None).compare == "none"
    assert same(onsameid="ignoreDuplicate", comparefield="name").compare == '"x"'
    assert same(onsameid="ignoreduplicate", comparefield="$.huge").compare == "1E+999"
    long = same(onsameid="ignoreduplicate", comparefield="long").compare
    assert long == "#" + sha256(b'"' + b"y" * 300 + b'"').hexdigest()[:32]
    small = same(onsameid="ignoresmallchange", comparefield="$.t", mindeviation="05.0%")
    assert small == Policy(
        same=SameKey(SamePolicy.IGNORE_SMALL_CHANGE, "$.t", "5%"), compare="21.5"
    )
    assert same(onsameid="keep").compare is None


def test_a_settling_event_is_due_when_it_has_settled():
    found = read(due=None, onsameid="settle", settlefor="10s", settlemax="1m")
    spans = {"settle_for": 10 * SECOND, "settle_max": 60 * SECOND}
    assert found == Asked(
        Policy(same=SameKey(SamePolicy.SETTLE, **spans), first=SENT), SENT + 10 * SECOND
    )
    for policy in ("debounce", "throttle", "settle"):
        assert read(due=None, onsameid=policy, settlefor="10s").due == SENT + 10 * SECOND


REPEAT = {"repeatevery": "1h", "repeatcount": "3"}
SMALL = {"onsameid": "ignoresmallchange", "comparefield": "t", "mindeviation": "1"}
SETTLE = {"due": None, "onsameid": "settle", "settlefor": "10s"}
BOTH = Why.CONFLICTING_ATTRIBUTES


@pytest.mark.parametrize(
    ("asked", "reason", "named"),
    [
        ({"retrymax": "-1"}, Why.INVALID_POLICY, ["retrymax '-1'"]),
        ({"retryfor": "soon"}, Why.INVALID_DURATION, ["retryfor 'soon'"]),
        ({"expirytime": "2026-01-01"}, Why.INVALID_TIME, ["expirytime '2026-01-01'"]),
        ({"expireafter": "1"}, Why.INVALID_DURATION, ["expireafter '1'"]),
        ({"expireafter": "0s"}, Why.INVALID_EXPIRY, ["expireafter '0s'"]),
        ({"expirytime": "2026-01-01T01:00:00Z"}, Why.INVALID_EXPIRY,
         ["expirytime", "2026-01-01T01:00:00Z", "deliverat"]),
        ({"expirytime": "2027-01-01T00:00:00Z", "expireafter": "1h"}, BOTH,
         ["expirytime", "expireafter"]),
        ({**REPEAT, "repeatcron": "@daily"}, BOTH, ["repeatevery '1h'", "repeatcron '@daily'"]),
        ({**REPEAT, "repeattz": "UTC"}, BOTH, ["repeattz 'UTC'", "repeatcron"]),
        ({"repeatcount": "3"}, BOTH, ["repeatcount", "repeatevery", "repeatcron"]),
        ({"repeatuntil": "x"}, BOTH, ["repeatuntil", "repeatevery", "repeatcron"]),
        ({"repeatfor": "1h"}, BOTH, ["repeatfor", "repeatevery", "repeatcron"]),
        ({"onmiss": "all"}, BOTH, ["onmiss", "repeatevery", "repeatcron"]),
        ({"repeatevery": "1h", "repeatuntil": "x", "repeatfor": "1h"}, BOTH,
         ["repeatuntil", "repeatfor"]),
        ({"repeatcron": "TZ=UTC @daily", "repeattz": "UTC", "repeatcount": "1"}, BOTH,
         ["repeattz", "repeatcron"]),
        ({"repeatcron": "@every 1h", "repeattz": "UTC", "repeatcount": "1"}, BOTH,
         ["repeattz", "repeatcron"]),
        ({"repeatcron": "@daily", "repeattz": "Berlin", "repeatcount": "1"}, Why.INVALID_REPEAT,
         ["repeattz 'Berlin'", "Europe/Berlin"]),
        ({"repeatcron": "@daily", "repeattz": "Europe", "repeatcount": "1"}, Why.INVALID_REPEAT,
         ["repeattz 'Europe'"]),
        ({"repeatcron": "61 * * * *", "repeatcount": "1"}, Why.INVALID_REPEAT,
         ["repeatcron '61 * * * *'", "minute"]),
        ({"repeatcron": "0 0 30 2 *", "repeatcount": "1"}, Why.INVALID_REPEAT, ["repeatcron"]),
        ({"repeatcron": "@every 99ms", "repeatcount": "1"}, Why.INVALID_REPEAT,
         ["repeatcron '@every 99ms'", "100ms"]),
        ({"repeatevery": "99ms", "repeatcount": "1"}, Why.INVALID_REPEAT, ["repeatevery", "100ms"]),
        ({"repeatevery": "often", "repeatcount": "1"}, Why.INVALID_DURATION, ["repeatevery"]),
        ({"repeatevery": "1h", "repeatcount": "0"}, Why.INVALID_REPEAT, ["repeatcount '0'"]),
        ({"repeatevery": "1h", "repeatcount": "1e3"}, Why.INVALID_REPEAT, ["repeatcount"]),
        ({"repeatevery": "1h", "repeatfor": "0s"}, Why.INVALID_REPEAT, ["repeatfor '0s'"]),
        ({"repeatevery": "1h", "repeatfor": "x"}, Why.INVALID_DURATION, ["repeatfor"]),
        ({"repeatevery": "1h", "repeatuntil": "2026-01-01T00:59:59Z"}, Why.INVALID_REPEAT,
         ["repeatuntil", "2026-01-01T01:00:00Z", "deliverat"]),
        ({"repeatevery": "1h", "repeatuntil": "never"}, Why.INVALID_TIME, ["repeatuntil 'never'"]),
        ({**REPEAT, "onmiss": "none"}, Why.INVALID_REPEAT, ["onmiss 'none'", "all, last, skip"]),
        ({"onsameid": "merge"}, Why.INVALID_POLICY, ["onsameid 'merge'", "ignoreduplicate"]),
        ({"comparefield": "t"}, BOTH, ["comparefield 't'", "onsameid", "not given"]),
        ({"comparefield": "t", "onsameid": "keep"}, BOTH, ["comparefield", "onsameid 'keep'"]),
        ({"mindeviation": "1", "comparefield": "t", "onsameid": "ignoreduplicate"}, BOTH,
         ["mindeviation", "onsameid 'ignoreduplicate'", "ignoresmallchange"]),
        ({"onsameid": "ignoresmallchange", "mindeviation": "1"}, BOTH,
         ["onsameid 'ignoresmallchange'", "comparefield"]),
        ({"onsameid": "ignoresmallchange", "comparefield": "t"}, BOTH,
         ["onsameid 'ignoresmallchange'", "mindeviation"]),
        ({**SMALL, "mindeviation": "0"}, Why.INVALID_POLICY, ["mindeviation '0'", "5%"]),
        ({**SMALL, "mindeviation": "-1"}, Why.INVALID_POLICY, ["mindeviation '-1'"]),
        ({**SMALL, "mindeviation": "5 %"}, Why.INVALID_POLICY, ["mindeviation '5 %'"]),
        ({**SMALL, "comparefield": "a..b"}, Why.INVALID_POLICY, ["comparefield 'a..b'", "$.a.b"]),
        ({**SMALL, "comparefield": "gone"}, Why.INVALID_POLICY, ["comparefield 'gone'"]),
        ({**SMALL, "comparefield": "name"}, Why.INVALID_POLICY, ["comparefield", "number"]),
        ({**SMALL, "comparefield": "huge"}, Why.INVALID_POLICY, ["comparefield", "400"]),
        ({**SMALL, "payload": b"{"}, Why.INVALID_POLICY, ["comparefield", "JSON"]),
        ({**SMALL, "payload": None}, Why.INVALID_POLICY, ["comparefield"]),
        ({"onsameid": "ignoreduplicate", "comparefield": "gone"}, Why.INVALID_POLICY,
         ["comparefield 'gone'"]),
        ({"due": None, "onsameid": "settle"}, BOTH, ["onsameid 'settle'", "settlefor"]),
        ({"settlefor": "1s"}, BOTH, ["settlefor '1s'", "onsameid", "settle"]),
        ({"settlefor": "1s", "onsameid": "keep"}, BOTH, ["settlefor", "onsameid 'keep'"]),
        ({"settlemax": "1s", "onsameid": "keep"}, BOTH, ["settlemax", "onsameid 'keep'"]),
        ({**SETTLE, "onsameid": "debounce", "settlemax": "1m"}, BOTH,
         ["settlemax", "onsameid 'debounce'"]),
        ({**SETTLE, "onsameid": "throttle", "settlemax": "1m"}, BOTH,
         ["settlemax", "onsameid 'throttle'"]),
        ({**SETTLE, "settlemax": "9s"}, BOTH, ["settlemax '9s'", "settlefor '10s'"]),
        ({**SETTLE, "settlefor": "0s"}, Why.INVALID_POLICY, ["settlefor '0s'"]),
        ({**SETTLE, "settlefor": "x"}, Why.INVALID_DURATION, ["settlefor 'x'"]),
        ({**SETTLE, **REPEAT}, BOTH, ["onsameid 'settle'", "repeatevery '1h'"]),
        ({**SETTLE, "due": DUE}, BOTH, ["onsameid 'settle'", "deliverat", "delayby"]),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_and_named(asked, reason, named):
    refused = read(**asked)
    assert isinstance(refused, Refused), refused
    assert refused.reason is reason
    assert [name for name in named if name not in refused.sentence] == []
    assert any(word in refused.sentence for word in ("send", "write", "leave", "name", "check"))


def test_a_sentence_calls_the_fields_what_the_event_calls_them():
    names = {"repeatevery": "metaData.repeatEvery", "repeatcron": "metaData.repeatCron"}
    refused = read(names=names, repeatevery="1h", repeatcron="@daily")
    assert refused.sentence.startswith("metaData.repeatEvery '1h' and metaData.repeatCron '@daily'")


def test_a_long_value_is_cut_in_the_sentence():
    refused = read(repeatevery="9" * 5000, repeatcount="1")
    assert len(refused.sentence) < 250


plausible = st.sampled_from(
    ["", "0", "1", "-1", "5%", "0.5", "PT1H", "1h", "10ms", "P999999999W", "9" * 40 + "h", "UTC",
     "Europe/Berlin", "Europe", "/etc/passwd", "@daily", "@every 1h", "TZ=UTC 0 0 29 2 *",
     "0 0 30 2 *", "* * * * *", "2026-06-01T00:00:00Z", "9999-12-31T23:59:59.999999999-18:00",
     "0001-01-01T00:00:00+18:00", "all", "skip", "settle", "debounce", "throttle", "keep",
     "ignoreduplicate", "ignoresmallchange", "$.t", "t", "$['a'].b[0]", "$", "\ud800", "\x00"]
)  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(ATTRIBUTES), st.one_of(plausible, st.text(max_size=20)), max_size=5
    ),
    st.one_of(st.none(), st.integers(-(2**62), 2**62), st.integers(SENT, SENT + 10**14)),
    st.one_of(st.integers(-(2**62), 2**62), st.just(SENT)),
    st.one_of(st.none(), st.binary(max_size=20), st.just(PAYLOAD)),
    st.booleans(),
)
@example({"repeatcron": "* * * * *", "repeatcount": "1"}, None, 2**62, None, False)
@example({"repeatcron": "* * * * *", "repeatcount": "1"}, -(2**62), SENT, None, False)
def test_whatever_an_event_says_the_answer_is_a_policy_or_a_sentence(
    asked, due, timestamp, payload, forever
):
    answer = read_asked(
        asked, names=None, due=due, timestamp=timestamp, payload=payload, allow_forever=forever
    )
    if isinstance(answer, Refused):
        assert answer.reason in Why and answer.sentence
        return
    policy = answer.policy
    assert Policy.from_json(policy.to_json()) == policy
    assert (policy.to_json() or "").isascii()
    assert policy.expires is None or policy.expires > answer.due
    if policy.repeat is not None:
        bounds = (policy.repeat.count, policy.repeat.until)
        assert forever or any(bound is not None for bound in bounds)
        assert policy.repeat.anchor == answer.due


@pytest.mark.parametrize(
    ("asked", "due"),
    [
        ({"repeatevery": "100ms", "repeatcount": "9"}, -(10**15)),
        ({"repeatevery": "P99999999D", "repeatcount": "9"}, None),
        ({"onsameid": "settle", "settlefor": "P9999999999D"}, None),
        ({"expireafter": "P9999999999D"}, None),
    ],
)
def test_what_would_not_fit_is_refused(asked, due):
    found = read_asked(asked, names=None, due=due, timestamp=0, payload=b"", allow_forever=True)
    assert isinstance(found, Refused), found
    assert next(name for name in asked if name != "onsameid") in found.sentence
