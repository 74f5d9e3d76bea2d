import pyarrow as pa
import pytest

from pipeline.backlog import Backlog
from state.row import DUE, OUTPUT_TOPIC

SECOND = 1_000_000
NOW = 1_000_000 * SECOND


def claims(topic, count, due=0):
    return pa.table({DUE: [due] * count, OUTPUT_TOPIC: [topic] * count})


@pytest.mark.parametrize(
    ("waiting", "lanes"),
    [((0, 0), (50, 50)), ((160, 0), (40, 50)), ((200, 250), (0, 0))],
)
def test_a_batch_claims_its_share_for_each_lane_and_no_more_than_the_outbox_holds(waiting, lanes):
    assert Backlog(100, 400, {}).room(waiting, NOW).lanes == lanes


def test_every_lane_may_claim_something_however_small_the_limits():
    assert Backlog(1, 1, {}).room((0, 0, 0), NOW).lanes == (1, 1, 1)


def test_a_rate_gives_a_quota_that_is_saved_up_and_spent():
    backlog = Backlog(100, 100, {"slow": 10})
    room = backlog.room((0,), NOW)
    assert room.quotas == {"slow": 20}
    backlog.claimed(claims("slow", 20), room)
    assert backlog.room((0,), NOW + SECOND).quotas == {"slow": 10}
    assert backlog.room((0,), NOW + 60 * SECOND).quotas == {"slow": 20}


def test_what_falls_due_now_or_goes_elsewhere_spends_no_quota():
    backlog = Backlog(100, 100, {"slow": 10})
    room = backlog.room((0,), NOW)
    backlog.claimed(claims("slow", 5, due=NOW), room)
    backlog.claimed(claims("other", 5), room)
    assert backlog.room((0,), NOW).quotas == {"slow": 20}


def test_a_clock_that_steps_back_saves_nothing_up():
    backlog = Backlog(100, 100, {"slow": 10})
    room = backlog.room((0,), NOW)
    backlog.claimed(claims("slow", 20), room)
    assert backlog.room((0,), NOW - 60 * SECOND).quotas == {"slow": 0}
