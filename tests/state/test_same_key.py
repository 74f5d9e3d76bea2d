"""What a new event does to the pending one of its key: waiting in the state, or in the outbox."""

import pytest
from build import at, cancel, put
from desk import Desk, asking


@pytest.fixture
def desk() -> Desk:
    return Desk()


# Due within what is claimed ahead, and so in the outbox; or far, and so in the state.
PLACES = pytest.mark.parametrize("due", [5, 500], ids=["in the outbox", "in the state"])


@PLACES
def test_keep_ignores_what_comes_while_one_is_pending(desk, due):
    desk.tick(put(b"k", 0, due))
    desk.tick(asking(b"k", 1, due=due + 1, onsameid="keep"))
    assert [(r["status"], r["reason"]) for r in desk.rows(b"k")] == [
        ("claimed" if due == 5 else "pending", None),
        ("replaced", "kept_first"),
    ]
    assert desk.store.stats(at(0)).ledger.difference == 0


def test_keep_takes_what_comes_after_the_first_is_out(desk):
    desk.tick(put(b"k", 0, 5))
    assert len(desk.release(5)) == 1
    desk.tick(asking(b"k", 1, b"second", due=6, onsameid="keep"))
    assert desk.release(6) == [("out", b"second")]


def test_keep_takes_what_comes_after_a_cancel(desk):
    desk.tick(put(b"k", 0, 500))
    desk.tick(cancel(b"k", 1), asking(b"k", 2, b"second", due=500, onsameid="keep"))
    assert desk.statuses(b"k") == ["replaced", "pending"]


def test_of_several_in_one_batch_the_first_is_kept(desk):
    desk.tick(*(asking(b"k", n, b"%d" % n, due=5, onsameid="keep") for n in range(4)))
    assert desk.release(5) == [("out", b"0")]
    assert sorted(desk.statuses(b"k")) == ["claimed", "replaced", "replaced", "replaced"]


@PLACES
def test_a_duplicate_is_ignored_and_a_change_replaces(desk, due):
    same = {"onsameid": "ignoreduplicate", "comparefield": "$.state"}
    desk.tick(asking(b"k", 0, b'{"state": "up", "n": 1}', due=due, **same))
    desk.tick(asking(b"k", 1, b'{"n": 2, "state": "up"}', due=due + 1, **same))
    desk.tick(asking(b"k", 2, b'{"state": "down"}', due=due + 2, **same))
    assert [r["reason"] for r in desk.rows(b"k")][1] == "duplicate"
    assert [r["status"] for r in desk.rows(b"k")][:2] == ["replaced", "replaced"]
    assert desk.release(due + 2) == ([("out", b'{"state": "down"}')] if due == 5 else [])


@PLACES
def test_a_small_change_is_ignored_and_a_large_one_replaces(desk, due):
    same = {"onsameid": "ignoresmallchange", "comparefield": "t", "mindeviation": "0.5"}
    for n, value in enumerate((b"20.0", b"20.4", b"20.5", b"20.1")):
        desk.tick(asking(b"k", n, b'{"t": %s}' % value, due=due, **same))
    assert [r["reason"] for r in desk.rows(b"k")] == [None, "small_change", None, "small_change"]


@PLACES
def test_what_settles_is_moved_and_its_newest_content_goes_out_once(desk, due):
    """The first is in the outbox when the second comes, or still in the state."""
    span = f"{due}s"
    desk.tick(asking(b"k", 0, b"a", onsameid="settle", settlefor=span))
    desk.tick(asking(b"k", 2, b"b", onsameid="settle", settlefor=span), now=2)
    assert desk.release(due + 1) == []
    desk.tick(now=due)
    assert desk.release(due + 2) == [("out", b"b")]
    desk.tick()
    assert desk.statuses(b"k")[0] == "replaced"


def test_a_series_that_never_settles_goes_out_after_its_maximum(desk):
    for n in range(0, 8, 2):
        desk.tick(
            asking(b"k", n, b"%d" % n, onsameid="settle", settlefor="5s", settlemax="8s"), now=n
        )
    assert desk.release(7.9) == []
    assert desk.release(8) == [("out", b"6")]


def test_a_throttled_key_goes_out_once_a_span_with_the_newest(desk):
    for n in range(4):
        desk.tick(asking(b"k", n, b"%d" % n, onsameid="throttle", settlefor="5s"), now=n)
    assert desk.release(4.9) == []
    assert desk.release(5) == [("out", b"3")]


def test_an_event_without_a_policy_replaces_whatever_is_pending(desk):
    desk.tick(asking(b"k", 0, due=5, onsameid="keep"))
    desk.tick(put(b"k", 1, 6))
    assert desk.statuses(b"k") == ["replaced", "claimed"]


def test_other_keys_of_the_batch_are_not_concerned(desk):
    desk.tick(put(b"k", 0, 5), put(b"other", 1, 5))
    desk.tick(asking(b"k", 2, due=5, onsameid="keep"), put(b"other", 3, 6), put(b"other", 4, 7))
    assert desk.statuses(b"k") == ["claimed", "replaced"]
    assert desk.statuses(b"other") == ["replaced", "claimed"]
    ledger = desk.store.stats(at(0)).ledger
    assert (ledger.accepted, ledger.difference) == (5, 0)


def test_what_was_held_for_a_record_is_free_when_the_batch_of_it_is_handed_over(desk, monkeypatch):
    """Executors may publish then, for a while; what is still held would have to wait for them."""
    desk.tick(put(b"k", 0, 5))
    (known,) = desk.rows(b"k")
    item = desk.outbox.waiting_for(known["identity"], 0)
    desk.outbox.saw([(known["identity"], 0, item.version._replace(offset=1, timestamp=at(1)))])
    assert item.held
    held = []
    monkeypatch.setattr(desk.outbox, "hand_over", lambda *_: held.append(item.held))
    desk.tick(asking(b"k", 1, due=6, onsameid="keep"))
    assert held == [False]
