"""What is claimed, and in which order."""

import zlib

from build import A, B, at, cancel, identity_of, names, outcome, put, receipt

from state.claims import Room


class Claims:
    """What is claimed, and in which order."""

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
