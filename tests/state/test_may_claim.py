"""How far ahead the tick lets a store claim that takes long to do it."""

from unittest.mock import patch

import pytest
from build import at
from desk import AHEAD, Desk

from state.memory import MemoryStore


@pytest.fixture
def ticks():
    """Return what the desk's store is told."""
    said = []
    commit = MemoryStore.commit

    def remembering(store, tick):
        said.append(tick)
        return commit(store, tick)

    with patch.object(MemoryStore, "commit", remembering):
        yield said


def test_a_store_may_claim_as_far_ahead_as_the_greatest_lookahead(ticks):
    Desk().tick(now=5)
    assert ticks[-1].may_claim_until == at(5 + AHEAD)


def test_after_a_clock_that_stepped_back_it_may_claim_only_what_is_due(ticks):
    desk = Desk()
    desk.outbox._workers[0].lane.watermark = at(60)
    desk.tick(now=50)
    assert ticks[-1].claim_until == ticks[-1].may_claim_until == at(50)
    desk.tick(now=61)
    assert ticks[-1].may_claim_until == at(61 + AHEAD)


def test_a_run_that_ends_by_itself_has_all_claimed_at_once(ticks):
    desk = Desk()
    desk.ticker._once = True
    desk.tick(now=5)
    assert ticks[-1].may_claim_until is None
