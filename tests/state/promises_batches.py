"""A batch is committed once, whole, under its number."""

from build import A, B, C, at, names, outcome, put, receipt, tick

from state.row import ROW


class Batches:
    """A batch is committed once, whole, under its number."""

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
