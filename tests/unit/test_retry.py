import json

import pytest

from pipeline.outbox.item import items_by_lane
from pipeline.outbox.refusal import Refusal
from pipeline.outbox.retry import RetryRules
from pipeline.reasons import Reason
from tests.integration.rows import claimed

SECOND = 1_000_000
NOW = 1_000 * SECOND
REFUSAL = Refusal(Reason.UNKNOWN_TOPIC, "no such topic")
RULES = RetryRules(4, 3600 * SECOND, SECOND, 60 * SECOND)


def decided(rules, attempted_at=(), policy=None, now=NOW):
    rows = claimed(
        key=[b"k"],
        due=[1],
        attempted_at=[list(attempted_at)],
        policy=[None if policy is None else json.dumps(policy)],
    )
    ((_, item),) = items_by_lane(rows, 1)
    return rules.decide(item, REFUSAL, now)


def test_the_delay_doubles_up_to_the_longest():
    many = RetryRules(100, 10**12, SECOND, 5 * SECOND)
    waits = [decided(many, [NOW] * n).again_at - NOW for n in range(5)]
    assert waits == [SECOND, 2 * SECOND, 4 * SECOND, 5 * SECOND, 5 * SECOND]
    assert decided(many, [NOW] * 90).again_at == NOW + 5 * SECOND


def test_every_attempt_is_remembered():
    assert decided(RULES, [1, 2]).attempted_at == [1, 2, NOW]


@pytest.mark.parametrize(("before", "dead"), [(0, False), (2, False), (3, True), (9, True)])
def test_after_the_last_attempt_it_is_dead(before, dead):
    assert (decided(RULES, [NOW] * before).again_at is None) is dead


def test_it_is_dead_when_the_next_attempt_would_come_too_long_after_the_first():
    rules = RetryRules(100, 10 * SECOND, SECOND, SECOND)
    assert decided(rules, [NOW - 9 * SECOND]).again_at == NOW + SECOND
    assert decided(rules, [NOW - 9 * SECOND - 1]).again_at is None


def test_an_outage_before_the_first_attempt_does_not_count():
    rules = RetryRules(2, SECOND, SECOND, SECOND)
    assert decided(rules, now=NOW + 10**12).again_at is not None


def test_jitter_spreads_the_attempts_around_the_delay():
    rules = RetryRules(9, 10**12, 10 * SECOND, 10 * SECOND, jitter=0.5)
    waits = {decided(rules).again_at - NOW for _ in range(50)}
    assert len(waits) > 10
    assert all(5 * SECOND <= wait <= 15 * SECOND for wait in waits)


def test_a_message_may_bring_rules_of_its_own():
    assert decided(RULES, policy={"retrymax": "0"}).again_at is None
    assert decided(RULES, [NOW] * 7, {"retrymax": "8"}).again_at is not None
    assert decided(RULES, [NOW - 1], {"retryfor": "1ms"}).again_at is None
    assert decided(RULES, [NOW - 10**10], {"retryfor": "P7D"}).again_at is not None
