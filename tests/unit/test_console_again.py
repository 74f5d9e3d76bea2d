"""What the form and the commands of a message say of it, when it is to be scheduled again."""

import json
from typing import Any

import pytest

from pipeline.admin.console.wish import like
from state import row as r
from state.row import Status
from state.rules.policy import Policy
from state.rules.repeat import OnMiss, Repeat
from state.rules.same_policy import SameKey, SamePolicy

SECOND = 1_000_000
DUE = 1_893_456_000 * SECOND  # 2030-01-01T00:00:00Z


def known(policy: Policy | None = None, **more: Any) -> dict[str, Any]:
    """A row of the state, pending unless it says otherwise."""
    row = dict.fromkeys(r.ROW.names) | {
        r.KEY: b"k",
        r.OUTPUT_KEY: b"k",
        r.SOURCE_TOPIC: "in",
        r.SOURCE_PARTITION: 0,
        r.SOURCE_OFFSET: 7,
        r.OCCURRENCE: 0,
        r.STATUS: Status.PENDING,
        r.OUTPUT_TOPIC: "out",
        r.PAYLOAD: b"hello",
        r.DUE: DUE,
        r.SCHEDULED: DUE,
        r.POLICY: None if policy is None else policy.to_json(),
    }
    return row | more


def header(name: str, value: bytes) -> dict[str, Any]:
    return {"key": name, "value": value}


def _event(row: dict[str, Any], hide: bool = False) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(like(row, hide).event())
    return said


def test_a_replacement_takes_over_all_that_the_message_asks_for() -> None:
    policy = Policy(retrymax=3, retryfor=90 * SECOND, expires=DUE + 60 * SECOND)
    headers = [
        header("content-type", b"text/plain"),
        header("correlationid", b"c-1"),
        header("traceparent", b"00-aa-bb-01"),
    ]
    row = known(policy, **{r.HEADERS: headers, r.OUTPUT_PARTITION: 1, r.OUTPUT_KEY: b"other"})
    assert _event(row) == {
        "outputtopic": "out",
        "outputkey": "other",
        "outputpartition": "1",
        "datacontenttype": "text/plain",
        "correlationid": "c-1",
        "traceparent": "00-aa-bb-01",
        "retrymax": "3",
        "retryfor": "90s",
        "expirytime": "2030-01-01T00:01:00.000000Z",
        "deliverat": "2030-01-01T00:00:00.000000Z",
        "data": "hello",
    }
    assert like(row, hide=False).left == ""


def test_of_a_series_what_is_left_is_taken_over() -> None:
    repeat = Repeat(every=3600 * SECOND, count=10, anchor=DUE, on_miss=OnMiss.SKIP)
    row = known(Policy(repeat=repeat, expireafter=60 * SECOND), **{r.OCCURRENCE: 7})
    said = _event(row)
    assert (said["repeatcount"], said["repeatevery"], said["onmiss"]) == ("3", "1h", "skip")
    assert said["expireafter"] == "1m"
    assert "expirytime" not in said


def test_what_waits_for_others_of_its_key_has_no_time_of_its_own() -> None:
    settling = SameKey(SamePolicy.SETTLE, settle_for=10 * SECOND, settle_max=60 * SECOND)
    said = _event(known(Policy(same=settling)))
    assert said.keys().isdisjoint(("deliverat", "delayby"))
    assert (said["onsameid"], said["settlefor"], said["settlemax"]) == ("settle", "10s", "1m")


@pytest.mark.parametrize("same", ["keep", "ignoreduplicate", "ignoresmallchange"])
def test_a_policy_that_would_turn_the_replacement_away_is_told_and_not_taken_over(
    same: str,
) -> None:
    policy = Policy(same=SameKey(SamePolicy(same), compare_field="$.a", min_deviation="5%"))
    pending, ended = known(policy), known(policy, **{r.STATUS: Status.DONE})
    wish = like(pending, hide=False)
    assert (wish.onsameid, wish.comparefield, wish.mindeviation) == ("", "", "")
    assert f"onsameid {same}" in wish.left
    assert like(ended, hide=False).onsameid == same


def test_what_an_event_cannot_say_is_told() -> None:
    headers = [header("x-own", b"1"), header("traceparent", b"\xff"), header("tracestate", b"\x1b")]
    nothing = {r.OUTPUT_KEY: None, r.PAYLOAD: None, r.HEADERS: headers}
    left = like(known(Policy(then=(DUE, 3), others='{"own":1}'), **nothing), hide=False).left
    for each in (
        "x-own",
        "traceparent",
        "tracestate",
        "own",
        "without a key",
        "no payload",
        "moved",
    ):
        assert each in left
    assert "outputkey" in like(known(**{r.OUTPUT_KEY: b"\xff"}), hide=False).left


def test_hidden_headers_are_told_and_not_shown() -> None:
    wish = like(known(**{r.HEADERS: [header("correlationid", b"swordfish")]}), hide=True)
    assert "swordfish" not in wish.model_dump_json()
    assert "hello" not in wish.model_dump_json()
    assert "correlationid" in wish.left


def test_what_has_ended_is_of_use_for_as_long_again() -> None:
    row = known(Policy(expires=DUE + 90 * SECOND), **{r.STATUS: Status.EXPIRED})
    wish = like(row, hide=False)
    assert (wish.when, wish.expireafter, wish.expirytime) == ("", "90s", "")
