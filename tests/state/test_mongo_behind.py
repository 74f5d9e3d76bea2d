"""A commit in MongoDB stands before it is carried out; whoever asks next waits."""

import threading

import pytest
from build import at, carried_out, names, outcome, put, receipt, settled, tick

from state.open import open_inspector, open_store

PATIENCE = 60


class Slow:
    """Sends changes only when it is told to, or fails to."""

    def __init__(self, send):
        self._send = send
        self.may = threading.Event()
        self.begun = threading.Event()
        self.failure = None

    def __call__(self, parts):
        self.begun.set()
        assert self.may.wait(PATIENCE)
        if self.failure is not None:
            raise self.failure
        return self._send(parts)


@pytest.fixture
def slow(mongo_store):
    """Three rows are pending, and from now on carrying out takes as long as the test wants."""
    rows = [put(b"%d" % n, n, due=5 + n) for n in range(3)]
    carried_out(mongo_store, tick(0, commands=rows))
    mongo_store._send = Slow(mongo_store._send)
    yield mongo_store._send
    mongo_store._send.may.set()


def test_claims_are_there_before_their_rows_are_changed(mongo_store, slow, mongo_state):
    assert names(mongo_store.commit(tick(1, until=6))) == [(b"0", 0), (b"1", 1)]
    assert slow.begun.wait(PATIENCE)
    assert mongo_store.last_batch == 1
    stats = open_inspector(mongo_state).stats(at(0))
    assert (stats.ledger.ends["claimed"], stats.ledger.ends["pending"]) == (2, 1)


def test_whoever_asks_the_collections_waits(mongo_store, slow):
    mongo_store.commit(tick(1, until=6))
    answers = []
    asking = threading.Thread(
        target=lambda: answers.append(names(mongo_store.commit(tick(2, until=100)))), daemon=True
    )
    asking.start()
    asking.join(0.2)
    assert not answers
    slow.may.set()
    asking.join(PATIENCE)
    assert answers == [[(b"2", 2)]]


def test_another_life_finishes_what_the_last_one_left_behind(mongo_store, slow, mongo_state):
    mongo_store.commit(tick(1, until=6))
    again = open_store(mongo_state)
    assert names(again.unsettled()) == [(b"0", 0), (b"1", 1)]
    assert names(again.commit(tick(2, until=100))) == [(b"2", 2)]
    slow.may.set()  # the first one wakes up: what it still sends changes nothing
    mongo_store._behind.end()
    assert names(again.unsettled()) == [(b"0", 0), (b"1", 1), (b"2", 2)]
    ends = [outcome(b"%d" % n, n, "done", **receipt()) for n in range(3)]
    again.settle(settled(*ends), at(9))
    assert again.unsettled().num_rows == 0
    again.close()


def test_what_fails_behind_a_commit_is_told_by_the_next_call_and_done_after_it(mongo_store, slow):
    slow.failure = OSError("no more room")
    slow.may.set()
    assert names(mongo_store.commit(tick(1, until=6))) == [(b"0", 0), (b"1", 1)]
    with pytest.raises(OSError, match="no more room"):
        mongo_store.commit(tick(2, until=100))
    slow.failure = None
    assert names(mongo_store.commit(tick(2, until=100))) == [(b"2", 2)]
    assert names(mongo_store.unsettled()) == [(b"0", 0), (b"1", 1), (b"2", 2)]


def test_a_store_that_is_closed_has_done_all(mongo_store, slow, mongo_state):
    mongo_store.commit(tick(1, until=6))
    closing = threading.Thread(target=mongo_store.close, daemon=True)
    closing.start()
    closing.join(0.2)
    assert closing.is_alive()
    slow.may.set()
    closing.join(PATIENCE)
    assert open_inspector(mongo_state)._last_commit().is_carried_out
