"""What outcomes do to the version they name."""

import pytest
from build import A, B, C, at, cancel, names, outcome, put, receipt, reject

from state.row import Kind, Status


class Outcomes:
    """What outcomes do to the version they name."""

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
