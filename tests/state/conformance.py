"""Every promise of state.store, as tests that each kind of store must pass.

A fixture ``subject`` gives the store. ``disturb`` runs each test as it is, with the store opened
anew between the steps, and with a fold between them.
"""

import zlib
from collections.abc import Callable

import pytest
from build import at, cancel, identity_of, names, outcome, put, receipt, reject, tick
from subject import Subject

from state.claims import Room
from state.row import ROW, Kind, Status

A, B, C = b"a", b"b", b"c"


class Conformance:
    """Subclass it and provide ``subject``."""

    @pytest.fixture(params=["undisturbed", "reopened", "folded", "folded and reopened"])
    def disturb(self, request: pytest.FixtureRequest, subject: Subject) -> Callable[[], None]:
        def between_steps() -> None:
            if "folded" in request.param:
                subject.fold()
            if "reopened" in request.param:
                subject.reopen()

        return between_steps

    def test_a_new_state_is_empty(self, subject):
        assert subject.store.last_batch == -1
        assert subject.store.next_due() is None
        assert subject.store.unsettled().schema == ROW
        assert subject.store.unsettled().num_rows == 0
        assert subject.stats().ledger.accepted == 0

    def test_a_state_keeps_its_name(self, subject):
        name = subject.store.state_id
        subject.commit(0, commands=[put(A, 0, due=5)])
        subject.fold()
        subject.reopen()
        assert subject.store.state_id == name

    def test_a_put_is_pending_until_it_is_claimed_at_its_time(self, subject, disturb):
        assert subject.commit(0, commands=[put(A, 0, due=5)], until=4) == []
        disturb()
        assert subject.statuses() == {(A, 0): "pending"}
        assert subject.store.next_due() <= at(5)
        assert subject.commit(1, now=1, until=4.999999) == []
        disturb()
        assert subject.commit(2, now=3, until=5) == [(A, 0)]
        disturb()
        assert subject.row(A, 0)["status"] == "claimed"
        assert subject.row(A, 0)["claim"] == 2

    def test_a_batch_committed_again_changes_nothing_and_tells_the_same_claims(
        self, subject, disturb
    ):
        said = {"commands": [put(A, 0, due=1), put(B, 1, due=9)], "until": 5}
        first = subject.store.commit(tick(7, **said))
        disturb()
        assert subject.store.commit(tick(7, **said)).to_pylist() == first.to_pylist()
        disturb()
        assert subject.store.commit(tick(7, until=100)).to_pylist() == first.to_pylist()
        assert subject.stats().ledger.accepted == 2
        assert subject.store.last_batch == 7

    def test_the_claims_of_a_batch_are_told_again_after_they_were_settled(self, subject, disturb):
        first = subject.store.commit(tick(0, commands=[put(A, 0, due=1)], until=5))
        subject.settle(outcome(A, 0, "done", **receipt()))
        disturb()
        assert subject.store.commit(tick(0)).to_pylist() == first.to_pylist()
        assert subject.store.claims_of(0).num_rows == 0

    def test_the_claims_of_an_earlier_batch_are_told_again(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=1), put(B, 1, due=2)], until=5)
        subject.commit(1, commands=[put(C, 2, due=3)], until=5)
        disturb()
        subject.commit(2, outcomes=[outcome(A, 0, "done", **receipt())])
        disturb()
        assert subject.commit(0) == [(A, 0), (B, 1)]
        assert names(subject.store.claims_of(0)) == [(B, 1)]

    def test_batches_may_leave_gaps(self, subject, disturb):
        subject.commit(3, commands=[put(A, 0, due=1)])
        disturb()
        subject.commit(10, commands=[put(B, 1, due=2)])
        disturb()
        assert subject.store.last_batch == 10
        assert subject.commit(11, until=5) == [(A, 0), (B, 1)]

    def test_a_tick_that_says_nothing_changes_nothing(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=1)])
        disturb()
        assert subject.commit(1) == []
        assert subject.commit(2, until=1) == [(A, 0)]

    def test_a_newer_put_replaces_the_pending_one(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=5)])
        disturb()
        subject.commit(1, now=1, commands=[put(A, 1, due=7)])
        disturb()
        assert subject.statuses() == {(A, 0): "replaced", (A, 1): "pending"}
        assert subject.row(A, 0)["changed_at"] == at(1)
        assert subject.commit(2, until=100) == [(A, 1)]

    def test_a_put_may_move_from_far_to_near_and_back(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=1_000_000), put(B, 1, due=3)])
        disturb()
        subject.commit(1, commands=[put(A, 2, due=2), put(B, 3, due=2_000_000)])
        disturb()
        assert subject.commit(2, until=10) == [(A, 2)]
        assert subject.pending() == [(B, 3)]

    def test_the_same_record_again_changes_nothing(self, subject, disturb):
        subject.commit(0, commands=[put(A, 4, due=5)])
        disturb()
        subject.commit(1, commands=[put(A, 4, due=9), put(B, 3, due=9)])
        disturb()
        assert subject.statuses() == {(A, 4): "pending"}
        assert subject.row(A, 4)["due"] == at(5)
        assert subject.stats().ledger.accepted == 1

    def test_an_older_put_from_another_partition_is_replaced_at_once(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=5, partition=0, stamp=20)])
        disturb()
        subject.commit(1, commands=[put(A, 0, due=3, partition=1, stamp=10)])
        disturb()
        assert subject.ends() == {"replaced": 1, "pending": 1}
        [claimed] = subject.store.commit(tick(2, until=100)).to_pylist()
        assert claimed["source_partition"] == 0

    def test_an_older_put_loses_also_to_one_far_ahead_and_folded_twice(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=1_000_000, partition=0, stamp=20)])
        for batch in (1, 2, 3):
            subject.commit(batch, commands=[put(B, batch, due=2_000_000)])
            disturb()
        subject.commit(4, commands=[put(A, 0, due=3, partition=1, stamp=10)])
        disturb()
        assert subject.commit(5, until=10) == []
        assert (A, 0) in subject.pending()

    def test_a_newer_put_from_another_partition_wins(self, subject, disturb):
        subject.commit(0, commands=[put(A, 9, due=5, partition=0, stamp=20)])
        disturb()
        subject.commit(1, commands=[put(A, 0, due=3, partition=1, stamp=30)])
        disturb()
        assert subject.statuses() == {(A, 9): "replaced", (A, 0): "pending"}

    def test_an_older_cancel_from_another_partition_finds_nothing(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=5, partition=0, stamp=20)])
        disturb()
        subject.commit(1, commands=[cancel(A, 0, partition=1, stamp=10)])
        disturb()
        assert subject.statuses() == {(A, 0): "pending"}
        assert subject.stats().ledger.late_cancels == 1

    def test_a_put_older_than_a_cancel_does_not_come_back(self, subject):
        subject.commit(0, commands=[put(A, 0, due=5, partition=0, stamp=10)])
        subject.commit(1, commands=[cancel(A, 1, partition=0, stamp=30)])
        subject.reopen()
        subject.commit(2, commands=[put(A, 0, due=5, partition=1, stamp=20)])
        assert subject.ends() == {"cancelled": 1, "replaced": 1}

    def test_a_cancel_closes_the_pending_version(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=5), put(B, 1, due=1_000_000)])
        disturb()
        subject.commit(1, commands=[cancel(A, 2), cancel(B, 3)])
        disturb()
        assert subject.statuses() == {(A, 0): "cancelled", (B, 1): "cancelled"}
        assert subject.stats().ledger.late_cancels == 0
        assert subject.commit(2, until=2_000_000) == []

    def test_a_cancel_of_nothing_is_counted_as_a_miss(self, subject, disturb):
        subject.commit(0, commands=[cancel(A, 0)])
        disturb()
        assert subject.stats().ledger.late_cancels == 1
        assert subject.stats().ledger.accepted == 0

    def test_a_key_may_be_scheduled_again_after_its_cancel(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=5)])
        subject.commit(1, commands=[cancel(A, 1)])
        disturb()
        subject.commit(2, commands=[put(A, 2, due=6)])
        disturb()
        assert subject.commit(3, until=10) == [(A, 2)]

    def test_puts_superseded_in_their_batch_are_accepted_and_replaced(self, subject, disturb):
        subject.commit(0, commands=[put(A, 3, due=5, superseded=3)])
        disturb()
        assert subject.stats().ledger.accepted == 4
        assert subject.ends() == {"replaced": 3, "pending": 1}

    def test_superseded_puts_count_also_when_the_kept_one_is_claimed_at_once(
        self, subject, disturb
    ):
        subject.commit(0, commands=[put(A, 0, due=9)])
        disturb()
        assert subject.commit(1, commands=[put(A, 3, due=1, superseded=2)], until=5) == [(A, 3)]
        disturb()
        assert subject.stats().ledger.accepted == 4
        assert subject.ends() == {"replaced": 3, "claimed": 1}

    def test_a_cancel_withdraws_the_put_before_it_in_its_batch(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=5)])
        disturb()
        subject.commit(1, commands=[cancel(A, 3, superseded=2)])
        disturb()
        assert subject.stats().ledger.accepted == 3
        assert subject.ends() == {"replaced": 2, "cancelled": 1}
        assert subject.stats().ledger.late_cancels == 0

    def test_a_refused_record_is_claimed_at_once_and_never_accepted(self, subject, disturb):
        assert subject.commit(0, commands=[reject(0)], until=0) == [(b"refused 0", 0)]
        disturb()
        [row] = subject.rows(kind=Kind.REJECTION).to_pylist()
        assert (row["reason"], row["detail"]) == ("bad_time", "no offset in the time")
        subject.commit(1, outcomes=[outcome(b"refused 0", 0, "done", **receipt())])
        disturb()
        ledger = subject.stats().ledger
        assert (ledger.accepted, ledger.rejected, sum(ledger.ends.values())) == (0, 1, 0)
        assert subject.statuses(kind=Kind.REJECTION) == {(b"refused 0", 0): "done"}

    def test_claims_come_in_order_of_due_and_ties_in_order_of_arrival(self, subject, disturb):
        puts = [put(b"%d" % i, i, due=due) for i, due in enumerate([5, 3, 4, 3, 5, 1])]
        subject.commit(0, commands=puts)
        disturb()
        claims = subject.commit(1, until=5)
        assert [offset for _, offset in claims] == [5, 1, 3, 2, 0, 4]

    def test_a_claim_takes_the_least_due_up_to_its_limit(self, subject, disturb):
        subject.commit(0, commands=[put(b"%d" % i, i, due=9 - i) for i in range(8)])
        disturb()
        assert [o for _, o in subject.commit(1, until=100, limit=3)] == [7, 6, 5]
        disturb()
        assert [o for _, o in subject.commit(2, until=100, limit=3)] == [4, 3, 2]
        disturb()
        assert [o for _, o in subject.commit(3, until=100, limit=3)] == [1, 0]
        assert subject.commit(4, until=100, limit=3) == []

    def test_each_lane_claims_its_own_share(self, subject, disturb):
        keys = [bytes([n]) for n in range(40)]
        subject.commit(0, commands=[put(key, n, due=n) for n, key in enumerate(keys)])
        disturb()
        lane_of = [zlib.crc32(identity_of(key)) % 3 for key in keys]
        offsets = [o for _, o in subject.commit(1, until=100, limit=Room((2, 0, 5)))]
        wanted = {lane: [n for n in range(40) if lane_of[n] == lane] for lane in range(3)}
        assert offsets == sorted(wanted[0][:2] + wanted[2][:5])

    def test_a_backlog_is_claimed_within_the_quota_of_its_topic(self, subject, disturb):
        slow = [put(bytes([n]), n, due=n, output_topic="slow") for n in range(6)]
        other = [put(bytes([n]), n, due=n, output_topic="other") for n in range(6, 9)]
        subject.commit(0, commands=[*slow, *other])
        disturb()
        room = Room((100,), backlog_before=at(5), quotas={"slow": 2})
        assert [o for _, o in subject.commit(1, until=9, limit=room)] == [0, 1, 5, 6, 7, 8]

    def test_a_limit_cuts_through_rows_due_at_the_same_instant(self, subject, disturb):
        subject.commit(0, commands=[put(b"%d" % i, i, due=2) for i in range(5)])
        claimed = []
        for batch in (1, 2, 3):
            disturb()
            claimed += [o for _, o in subject.commit(batch, until=2, limit=2)]
        assert claimed == [0, 1, 2, 3, 4]

    def test_a_put_and_its_claim_may_fall_in_one_batch(self, subject, disturb):
        assert subject.commit(0, commands=[put(A, 0, due=-5)], until=0) == [(A, 0)]
        disturb()
        assert subject.ends() == {"claimed": 1}
        assert names(subject.store.claims_of(0)) == [(A, 0)]
        assert names(subject.store.unsettled()) == [(A, 0)]

    def test_a_claimed_version_is_untouched_by_commands_until_an_outcome_names_it(
        self, subject, disturb
    ):
        subject.commit(0, commands=[put(A, 0, due=1), put(B, 1, due=1)], until=5)
        disturb()
        subject.commit(1, commands=[put(A, 2, due=9), cancel(B, 3)])
        disturb()
        assert subject.statuses() == {(A, 0): "claimed", (B, 1): "claimed", (A, 2): "pending"}
        assert subject.stats().ledger.late_cancels == 1
        subject.commit(2, outcomes=[outcome(A, 0, "done", **receipt())])
        disturb()
        assert subject.statuses()[A, 0] == "done"
        assert names(subject.store.unsettled()) == [(B, 1)]

    def test_a_row_taken_back_from_the_outbox_makes_room_for_the_command(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=1), put(B, 1, due=1)], until=5)
        disturb()
        subject.commit(
            1,
            commands=[put(A, 2, due=9), cancel(B, 3)],
            outcomes=[outcome(A, 0, "replaced"), outcome(B, 1, "cancelled")],
        )
        disturb()
        assert subject.statuses() == {(A, 0): "replaced", (B, 1): "cancelled", (A, 2): "pending"}
        assert subject.stats().ledger.late_cancels == 0

    def test_an_outcome_closes_with_its_reason_and_receipt(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=1), put(B, 1, due=2)], until=5)
        disturb()
        dead = outcome(B, 1, "dead", reason="too_large", detail="2 MB, allowed is 1 MB", attempt=4)
        subject.commit(1, now=8, outcomes=[outcome(A, 0, "done", **receipt(3, 77, 2)), dead])
        disturb()
        done, dead = subject.row(A, 0), subject.row(B, 1)
        assert (done["status"], done["published_partition"]) == ("done", 3)
        assert (done["published_offset"], done["published_at"]) == (77, at(2))
        assert (done["batch"], done["changed_at"], done["claim"]) == (1, at(8), 0)
        assert (dead["status"], dead["reason"], dead["attempt"]) == ("dead", "too_large", 4)
        assert dead["payload"] == b"payload of b at 1"

    def test_an_outcome_may_close_a_pending_version(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=5), put(B, 1, due=1_000_000)])
        disturb()
        subject.commit(1, outcomes=[outcome(A, 0, "expired"), outcome(B, 1, "expired")])
        disturb()
        assert subject.ends() == {"expired": 2}
        assert subject.commit(2, until=2_000_000) == []

    @pytest.mark.parametrize("again", [3, 500_000])
    def test_a_row_put_back_is_claimed_again_at_its_new_time(self, subject, disturb, again):
        subject.commit(0, commands=[put(A, 0, due=1)], until=1)
        disturb()
        tried = {"attempt": 1, "attempted_at": [7], "reason": "retry", "detail": "busy"}
        back = outcome(A, 0, "pending", due=again, **tried)
        subject.commit(1, outcomes=[back], until=again - 1)
        disturb()
        row = subject.row(A, 0)
        assert (row["status"], row["due"], row["attempt"]) == ("pending", at(again), 1)
        assert (row["claim"], row["reason"]) == (None, "retry")
        assert subject.store.unsettled().num_rows == 0
        assert subject.commit(2, until=again) == [(A, 0)]
        disturb()
        row = subject.row(A, 0)
        assert (row["claim"], row["attempt"], row["payload"]) == (2, 1, b"payload of a at 0")
        assert (row["scheduled"], row["attempted_at"]) == (at(1), [7])

    def test_an_attempt_that_is_told_twice_counts_once(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=1)], until=1)
        told = outcome(A, 0, "pending", due=3, attempt=1, attempted_at=[1])
        subject.commit(1, outcomes=[told])
        disturb()
        assert subject.commit(2, until=5) == [(A, 0)]
        disturb()
        subject.commit(3, outcomes=[told])  # a note, read late: the row is claimed again
        assert subject.row(A, 0)["status"] == "claimed"
        assert subject.commit(4, until=5) == []

    def test_a_known_attempt_does_not_hide_the_end_that_comes_with_it(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=1)], until=1)
        told = outcome(A, 0, "pending", due=3, attempt=1, attempted_at=[1])
        subject.commit(1, outcomes=[told], until=5)
        disturb()
        done = outcome(A, 0, "done", reason="receipt_unknown")
        subject.commit(2, outcomes=[done, told])
        assert subject.row(A, 0)["status"] == "done"
        assert subject.store.unsettled().num_rows == 0

    def test_a_refusal_put_back_keeps_its_reason(self, subject, disturb):
        subject.commit(0, commands=[reject(0)], until=1)
        disturb()
        subject.settle(outcome(b"refused 0", 0, "pending"))
        disturb()
        (row,) = subject.rows(kind=Kind.REJECTION).to_pylist()
        assert (row["status"], row["reason"]) == ("pending", "bad_time")
        assert row["detail"] == "no offset in the time"

    def test_a_row_put_back_may_be_claimed_in_the_same_batch(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=1)], until=1)
        disturb()
        back = outcome(A, 0, "pending", due=2, attempt=1)
        assert subject.commit(1, outcomes=[back], until=2) == [(A, 0)]
        disturb()
        assert names(subject.store.claims_of(1)) == [(A, 0)]
        assert subject.store.claims_of(0).num_rows == 0
        assert subject.ends() == {"claimed": 1}

    def test_a_row_put_back_is_replaced_or_cancelled_like_any_pending_one(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=1), put(B, 1, due=1)], until=1)
        disturb()
        backs = [outcome(A, 0, "pending", due=9), outcome(B, 1, "pending", due=9)]
        subject.commit(1, outcomes=backs)
        disturb()
        subject.commit(2, commands=[put(A, 2, due=5), cancel(B, 3)])
        disturb()
        assert subject.statuses() == {(A, 0): "replaced", (B, 1): "cancelled", (A, 2): "pending"}
        assert subject.commit(3, until=20) == [(A, 2)]

    def test_a_row_put_back_after_a_newer_version_came_is_replaced(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=1)], until=1)
        subject.commit(1, commands=[put(A, 1, due=8)])
        disturb()
        subject.commit(2, outcomes=[outcome(A, 0, "pending", due=3)])
        disturb()
        assert subject.commit(3, until=5) == []
        assert subject.row(A, 0)["status"] == "replaced"
        assert subject.commit(4, until=9) == [(A, 1)]
        assert subject.ends() == {"claimed": 1, "replaced": 1}

    def test_a_row_put_back_after_a_cancel_came_does_not_come_back(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=1)], until=1)
        subject.commit(1, commands=[cancel(A, 1)])
        disturb()
        subject.commit(2, outcomes=[outcome(A, 0, "pending", due=3)])
        disturb()
        assert subject.commit(3, until=5) == []
        assert subject.row(A, 0)["status"] == "replaced"

    @pytest.mark.parametrize("status", ["dead", "pending"])
    def test_done_with_the_receipt_unknown_is_corrected_by_a_later_outcome(
        self, subject, disturb, status
    ):
        subject.commit(0, commands=[put(A, 0, due=1)], until=1)
        subject.settle(outcome(A, 0, "done", reason="receipt_unknown"))
        for batch in (1, 2):
            subject.commit(batch, commands=[put(B, batch, due=1_000_000)])
            disturb()
        subject.commit(3, outcomes=[outcome(A, 0, status, due=4, attempt=1, reason="note")])
        disturb()
        assert subject.row(A, 0)["status"] == status
        assert subject.ends() == {status: 1, "pending": 1, "replaced": 1} | (
            {"pending": 2} if status == "pending" else {}
        )
        assert subject.rows(statuses=[Status.DONE]).num_rows == 0
        expected = [(A, 0)] if status == "pending" else []
        assert subject.commit(4, until=5) == expected
        disturb()
        if expected:
            subject.commit(5, outcomes=[outcome(A, 0, "done", **receipt())])
            disturb()
            assert subject.row(A, 0)["status"] == "done"
            assert subject.inspector.versions(A).num_rows == 1

    @pytest.mark.parametrize("first", ["done", "dead", "expired", "cancelled"])
    def test_any_other_closed_version_stays_as_it_is(self, subject, disturb, first):
        subject.commit(0, commands=[put(A, 0, due=1)], until=1)
        subject.commit(1, outcomes=[outcome(A, 0, first, **receipt())])
        disturb()
        subject.commit(2, outcomes=[outcome(A, 0, "pending", due=2)], until=5)
        subject.commit(3, outcomes=[outcome(A, 0, "dead", reason="late")], until=5)
        disturb()
        assert subject.row(A, 0)["status"] == first
        assert subject.row(A, 0)["reason"] is None

    def test_an_outcome_of_a_version_never_seen_changes_nothing(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=1)], until=1)
        disturb()
        subject.commit(1, outcomes=[outcome(A, 5, "done"), outcome(C, 6, "pending", due=1)])
        disturb()
        assert subject.ends() == {"claimed": 1}
        assert subject.commit(2, until=5) == []

    def test_of_two_outcomes_in_one_batch_only_a_correction_comes_second(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=1), put(B, 1, due=1)], until=1)
        disturb()
        subject.commit(
            1,
            outcomes=[
                outcome(A, 0, "done", **receipt()),
                outcome(A, 0, "pending", due=2),
                outcome(B, 1, "done"),
                outcome(B, 1, "pending", due=3),
            ],
        )
        disturb()
        assert subject.statuses() == {(A, 0): "done", (B, 1): "pending"}
        assert subject.commit(2, until=5) == [(B, 1)]

    def test_settling_needs_no_batch_and_may_be_repeated(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=1), put(B, 1, due=2)], until=5)
        disturb()
        for _ in range(2):
            subject.settle(outcome(A, 0, "done", **receipt()), now=3)
            disturb()
        assert subject.ends() == {"done": 1, "claimed": 1}
        assert subject.store.last_batch == 0
        assert subject.row(A, 0)["changed_at"] == at(3)
        assert subject.commit(1, commands=[put(C, 2, due=4)], until=5) == [(C, 2)]

    @pytest.mark.parametrize(
        "content",
        [
            {"key": None, "output_key": None, "payload": None, "headers": None},
            {"key": b"", "output_key": b"", "payload": b"", "headers": []},
            {"key": b"\xff\x00", "output_key": b"\xfe", "payload": bytes(range(256))},
            {"headers": [{"key": "h", "value": b"1"}, {"key": "h", "value": b"\xff"}]},
            {"headers": [{"key": "h", "value": None}, {"key": "", "value": b""}]},
            {"output_partition": 4, "output_topic": "naïve/топик"},
        ],
        ids=["nulls", "empty", "not UTF-8", "header twice", "null header", "partition"],
    )
    def test_content_comes_back_byte_for_byte(self, subject, disturb, content):
        line = put(A, 0, due=1) | content
        subject.store.commit(tick(0, commands=[line]))
        disturb()
        [claimed] = subject.store.commit(tick(1, until=5)).to_pylist()
        disturb()
        [unsettled] = subject.store.unsettled().to_pylist()
        back = outcome(A, 0, "pending", due=9)
        subject.store.commit(tick(2, outcomes=[back]))
        disturb()
        [shown] = subject.rows().to_pylist()
        names = ("key", "output_topic", "output_partition", "output_key", "payload", "headers")
        for row in (claimed, unsettled, shown):
            assert {name: row[name] for name in names} == {n: line.get(n) for n in names}

    def test_next_due_is_never_after_the_first_pending_row(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=50), put(B, 1, due=5_000_000)])
        disturb()
        assert subject.store.next_due() <= at(50)
        subject.commit(1, commands=[put(C, 2, due=30)])
        disturb()
        assert subject.store.next_due() <= at(30)
        subject.commit(2, until=60)
        disturb()
        assert at(60) < subject.store.next_due() <= at(5_000_000)

    def test_the_inspector_filters_orders_and_limits(self, subject, disturb):
        puts = [put(b"%d" % i, i, due=20 - i, output_topic=f"t{i % 2}") for i in range(10)]
        subject.commit(0, commands=puts[:6])
        disturb()
        subject.commit(1, commands=puts[6:], until=12)
        disturb()
        offsets = [row["source_offset"] for row in subject.rows(limit=4).to_pylist()]
        assert offsets == [9, 8, 7, 6]
        assert names(subject.rows(output_topic="t1", due_from=at(13), due_to=at(18))) == [
            (b"7", 7),
            (b"5", 5),
            (b"3", 3),
        ]
        assert names(subject.rows(statuses=[Status.CLAIMED])) == [(b"9", 9), (b"8", 8)]
        assert names(subject.rows(key=b"4")) == [(b"4", 4)]
        stats = subject.stats(now=12.5)
        assert stats.pending_by_topic == {"t0": 4, "t1": 4}
        assert (stats.next_due, stats.oldest_overdue) == (at(13), at(11))

    def test_the_inspector_tells_all_versions_of_a_key_oldest_first(self, subject, disturb):
        for batch in range(4):
            subject.commit(batch, commands=[put(A, batch, due=5 + batch)])
            disturb()
        found = subject.inspector.versions(A, "in").to_pylist()
        assert [row["source_offset"] for row in found] == [0, 1, 2, 3]
        assert [row["status"] for row in found] == ["replaced"] * 3 + ["pending"]
        assert subject.inspector.versions(A, "elsewhere").num_rows == 0
