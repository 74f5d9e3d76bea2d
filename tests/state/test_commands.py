"""Commands: what they do to what is pending, what they answer, and what is remembered of them."""

import json

import pytest
from build import at, put
from desk import Desk, asking, order, policy_of

from pipeline.commands import Command, Scope
from state.row import Kind


@pytest.fixture
def desk() -> Desk:
    return Desk()


PLACES = pytest.mark.parametrize("due", [5, 500], ids=["in the outbox", "in the state"])


@PLACES
def test_a_cancel_withdraws_and_is_remembered_with_who_and_why(desk, due):
    desk.tick(put(b"k", 0, due))
    desk.tick(order(Command.CANCEL, b"k", 1, reason="paid"))
    assert desk.statuses(b"k") == ["cancelled"]
    (record,) = desk.rows(b"k", Kind.COMMAND)
    assert (record["status"], record["reason"]) == ("done", "cancelled")
    said = json.loads(record["detail"])
    assert (said["who"], said["why"], said["what"]) == ("ada", "paid", "cancel")
    assert desk.release(due) == []


def test_a_cancel_that_finds_nothing_says_so(desk):
    desk.tick(order(Command.CANCEL, b"k", 1))
    assert desk.effects(b"k") == ["nothing_pending"]
    assert desk.store.stats(at(0)).ledger.late_cancels == 0  # it was told, not counted as late


@PLACES
def test_a_command_with_another_version_does_nothing(desk, due):
    desk.tick(put(b"k", 7, due))
    desk.tick(order(Command.CANCEL, b"k", 8, if_version="0-6"))
    desk.tick(order(Command.RESCHEDULE, b"k", 9, at=at(9), if_version="0-6"))
    assert desk.effects(b"k") == ["version_differs"] * 2
    desk.tick(order(Command.CANCEL, b"k", 10, if_version="0-7"))
    assert desk.statuses(b"k") == ["cancelled"]


@PLACES
def test_a_reschedule_changes_the_time_and_nothing_else(desk, due):
    desk.tick(put(b"k", 0, due, headers=[{"key": "h", "value": b"1"}]))
    desk.tick(order(Command.RESCHEDULE, b"k", 1, at=at(8)))
    assert desk.release(7.9) == []
    assert desk.release(8) == [("out", b"payload of k at 0")]
    old, new = desk.rows(b"k")
    assert (old["status"], new["headers"], new["output_key"]) == ("replaced", old["headers"], b"k")
    assert (new["scheduled"], desk.effects(b"k")) == (at(8), ["rescheduled"])


@PLACES
def test_a_command_and_what_it_moved_are_named_apart(desk, due):
    desk.tick(put(b"k", 0, due))
    desk.tick(order(Command.SEND_NOW, b"k", 1, reply_to="replies"), now=1)
    rows = desk.store.versions(b"k").to_pylist()
    named = [(row["source_offset"], row["occurrence"]) for row in rows]
    assert sorted(named) == [(0, 0), (1, -1), (1, 0)]


def test_a_reschedule_after_the_release_does_not_send_it_again(desk):
    desk.tick(put(b"k", 0, 5))
    assert len(desk.release(5)) == 1
    desk.tick(order(Command.RESCHEDULE, b"k", 1, at=at(8)))
    assert desk.effects(b"k") == ["nothing_pending"]
    assert desk.release(20) == []


def test_a_message_of_the_same_batch_can_be_moved_and_cancelled(desk):
    desk.tick(put(b"k", 0, 500), order(Command.RESCHEDULE, b"k", 1, at=at(5)))
    assert desk.release(5) == [("out", b"payload of k at 0")]
    desk.tick(put(b"m", 2, 5), order(Command.CANCEL, b"m", 3))
    assert desk.effects(b"m") == ["cancelled"]
    ledger = desk.store.stats(at(0)).ledger
    assert (ledger.ends["cancelled"], ledger.ends["replaced"], ledger.difference) == (1, 1, 0)


@PLACES
def test_send_now_is_due_at_once(desk, due):
    desk.tick(put(b"k", 0, due))
    desk.tick(order(Command.SEND_NOW, b"k", 1), now=1)
    assert desk.release(1) == [("out", b"payload of k at 0")]
    assert desk.release(due) == []


def test_send_now_of_a_repeat_sends_the_next_one_and_leaves_the_others(desk):
    desk.tick(asking(b"k", 0, b"r", due=100, repeatevery="100s", repeatcount="3"))
    desk.tick(order(Command.SEND_NOW, b"k", 1), now=1)
    assert desk.release(1) == [("out", b"r")]
    desk.tick(now=195)
    assert desk.release(200) == [("out", b"r")]
    desk.tick(now=295)
    assert desk.release(300) == [("out", b"r")]
    desk.tick(now=395)
    assert desk.release(400) == []


def test_a_message_cannot_be_moved_past_its_expiry(desk):
    desk.tick(asking(b"k", 0, due=100, expireafter="10s"))
    desk.tick(order(Command.RESCHEDULE, b"k", 1, at=at(110)))
    assert desk.effects(b"k") == ["after_expiry"]
    assert desk.statuses(b"k") == ["pending"]


@PLACES
def test_a_paused_key_waits_until_it_is_resumed(desk, due):
    desk.tick(put(b"k", 0, due), put(b"other", 1, 5))
    desk.tick(order(Command.PAUSE, b"k", 2, reason="wait"))
    desk.tick(now=due)
    assert [topic for topic, _ in desk.release(due)] == ["out"]  # the other one
    assert desk.statuses(b"k") == ["pending"]
    desk.tick(order(Command.RESUME, b"k", 3), now=due + 50)
    assert desk.release(due + 50) == [("out", b"payload of k at 0")]
    assert desk.rows(b"k")[0]["scheduled"] == at(due)
    assert desk.effects(b"k") == ["paused", "resumed"]


def test_a_message_of_the_same_batch_can_be_paused_and_keeps_its_instant(desk):
    desk.tick(put(b"k", 0, 5), order(Command.PAUSE, b"k", 1))
    assert desk.release(6) == []
    desk.tick(order(Command.RESUME, b"k", 2), now=7)
    assert desk.release(7) == [("out", b"payload of k at 0")]
    assert desk.rows(b"k")[0]["scheduled"] == at(5)


def test_a_new_message_for_a_paused_key_starts_afresh(desk):
    desk.tick(put(b"k", 0, 5), order(Command.PAUSE, b"k", 1))
    desk.tick(put(b"k", 2, 6))
    assert desk.release(6) == [("out", b"payload of k at 2")]


def test_resuming_what_is_not_paused_says_so(desk):
    desk.tick(put(b"k", 0, 500), order(Command.RESUME, b"k", 1))
    assert desk.effects(b"k") == ["not_paused"]


@pytest.mark.parametrize("scope", [Scope.TOPIC, Scope.ALL])
def test_a_paused_topic_waits_and_takes_what_comes(desk, scope):
    what = {"scope": scope, "topic": "out" if scope is Scope.TOPIC else None}
    desk.tick(put(b"claimed", 0, 5), put(b"far", 1, 30))
    desk.tick(order(Command.PAUSE, None, 2, **what), put(b"new", 3, 6))
    desk.tick(now=30)
    assert desk.release(30) == []
    assert desk.store.paused.holds(Kind.MESSAGE, "out")
    desk.tick(order(Command.RESUME, None, 4, **what), now=40)
    desk.tick(now=41)
    assert len(desk.release(42)) == 3
    assert not desk.store.paused.holds(Kind.MESSAGE, "out")
    assert desk.store.stats(at(42)).ledger.difference == 0


def test_another_topic_is_not_paused(desk):
    desk.tick(put(b"k", 0, 5), order(Command.PAUSE, None, 1, scope=Scope.TOPIC, topic="elsewhere"))
    assert len(desk.release(5)) == 1


def test_the_answer_goes_to_the_topic_that_was_asked_for(desk):
    desk.tick(put(b"k", 0, 500))
    desk.tick(order(Command.CANCEL, b"k", 1, reply_to="replies"))
    ((topic, payload),) = desk.release(1)
    said = json.loads(payload)
    assert (topic, said["key"], said["effect"], said["event"]) == (
        "replies",
        "k",
        "cancelled",
        "e1",
    )


def test_a_moved_message_keeps_its_policy(desk):
    desk.tick(asking(b"k", 0, due=500, retrymax="7"))
    desk.tick(order(Command.RESCHEDULE, b"k", 1, at=at(600)))
    assert policy_of(desk.rows(b"k")[-1]).retrymax == 7


def series(key, first, every, count, **more):
    asked = {"repeatevery": f"{every}s", "repeatcount": str(count), **more}
    return asking(key, 0, b"r", due=first, **asked)


def test_all_of_a_series_that_wait_are_paused_and_resumed(desk):
    desk.tick(series(b"k", 5, 4, 4))  # two are claimed, one is pending
    desk.tick(order(Command.PAUSE, b"k", 1))
    desk.tick(now=30)
    assert desk.release(30) == []
    desk.tick(order(Command.RESUME, b"k", 2), now=31)
    desk.tick(now=32)
    assert len(desk.release(40)) == 4
    assert desk.effects(b"k") == ["paused", "resumed"]


def test_a_pause_and_what_undoes_it_may_come_in_one_batch(desk):
    desk.tick(put(b"k", 0, 5), put(b"m", 1, 5))
    desk.tick(
        *(order(command, b"k", n) for n, command in ((2, Command.PAUSE), (3, Command.RESUME))),
        *(order(command, b"m", n) for n, command in ((4, Command.PAUSE), (5, Command.CANCEL))),
    )
    assert desk.effects(b"k") == ["paused", "resumed"]
    assert desk.release(6) == [("out", b"payload of k at 0")]
    assert desk.statuses(b"m") == ["cancelled"]


def test_others_of_a_series_that_wait_go_out_when_one_is_moved(desk):
    desk.tick(series(b"k", 5, 2, 3))  # all three are claimed
    desk.tick(order(Command.RESCHEDULE, b"k", 1, at=at(50)), now=1)
    assert [desk.release(now) for now in (7, 9)] == [[("out", b"r")]] * 2
    desk.tick(now=45)
    assert desk.release(50) == [("out", b"r")]
    desk.tick(now=60)
    assert (desk.release(100), desk.store.stats(at(60)).ledger.difference) == ([], 0)


def test_what_leaves_at_the_moment_it_is_moved_is_not_sent_again(desk, monkeypatch):
    desk.tick(series(b"k", 5, 100, 3))
    look = desk.outbox.waiting_for
    left = []

    def leaves(identity, number):
        found = look(identity, number)
        if not left:
            left.extend(desk.release(5))
        return found

    monkeypatch.setattr(desk.outbox, "waiting_for", leaves)
    desk.tick(order(Command.SEND_NOW, b"k", 5), now=5)
    assert left == [("out", b"r")]
    assert len(desk.release(6)) == 1  # the second one: it was next by then
    desk.tick(now=200)
    assert len(desk.release(206)) == 1
    desk.tick(now=400)
    assert desk.release(500) == []


def test_a_series_by_cron_goes_on_after_the_one_that_was_moved(desk):
    desk.tick(asking(b"k", 0, b"c", repeatcron="*/5 * * * *", repeatcount="3"))
    first = desk.rows(b"k")[0]["due"]
    desk.tick(order(Command.SEND_NOW, b"k", 1), now=1)
    assert desk.release(1) == [("out", b"c")]
    later = [r["due"] for r in desk.rows(b"k") if r["status"] == "pending"]
    assert later == [first + 300_000_000]


def test_a_key_and_its_topic_may_be_named_in_one_batch(desk):
    desk.tick(put(b"k", 0, 5))
    desk.tick(
        order(Command.CANCEL, b"k", 1),
        order(Command.PAUSE, None, 2, scope=Scope.TOPIC, topic="out"),
    )
    assert (desk.effects(b"k"), desk.statuses(b"k")) == (["cancelled"], ["cancelled"])


def test_a_command_older_than_what_is_pending_finds_nothing(desk):
    desk.tick(put(b"k", 5, 500))
    old = order(Command.CANCEL, b"k", 1) | {"source_partition": 1, "source_timestamp": at(1)}
    desk.tick(old)
    assert (desk.effects(b"k"), desk.statuses(b"k")) == (["nothing_pending"], ["pending"])


def test_one_that_was_moved_can_be_moved_again_in_the_same_batch(desk):
    desk.tick(series(b"k", 5, 100, 2))
    desk.tick(
        order(Command.RESCHEDULE, b"k", 1, at=at(50)),
        order(Command.RESCHEDULE, b"k", 2, at=at(60)),
    )
    desk.tick(now=55)
    assert [desk.release(now) for now in (59, 60)] == [[], [("out", b"r")]]
    desk.tick(now=100)
    assert desk.release(105) == [("out", b"r")]
