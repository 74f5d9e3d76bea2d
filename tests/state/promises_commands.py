"""What puts, cancels and refused records do."""

from build import A, B, at, cancel, outcome, put, receipt, reject, tick

from state.row import Kind


class Commands:
    """What puts, cancels and refused records do."""

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
