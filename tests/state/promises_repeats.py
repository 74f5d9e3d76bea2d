"""What becomes of messages that repeat."""

import json

import pytest
from build import A, B, C, at, cancel, every, numbers, outcome, put, receipt, tick

from state.claims import Room
from state.row import Status


def states(subject):
    """Return number and status of every occurrence that is known of A."""
    rows = subject.inspector.versions(A).to_pylist()
    return {row["occurrence"]: row["status"] for row in rows}


class Repeats:
    """What becomes of messages that repeat."""

    def test_a_claimed_occurrence_leaves_the_one_that_follows_it(self, subject, disturb):
        asked = put(A, 0, due=10, policy=every(60, first=10), headers=[{"key": "h", "value": b"1"}])
        subject.commit(0, commands=[asked])
        disturb()
        assert numbers(subject.store.commit(tick(1, 9, until=10))) == [(A, 0)]
        disturb()
        first, second = subject.inspector.versions(A).to_pylist()
        assert (first["status"], second["status"]) == ("claimed", "pending")
        assert (second["due"], second["scheduled"], second["occurrence"]) == (at(70), at(70), 1)
        for name in ("key", "payload", "headers", "output_topic", "hash", "source_offset"):
            assert second[name] == first[name]
        assert subject.store.next_due() <= at(70)
        assert subject.stats().ledger.accepted == 2
        subject.commit(2, 10, outcomes=[outcome(A, 0, "done", **receipt())])
        disturb()
        assert numbers(subject.store.commit(tick(3, 69, until=70))) == [(A, 1)]
        disturb()
        assert states(subject) == {0: "done", 1: "claimed", 2: "pending"}
        assert subject.ends() == {"done": 1, "claimed": 1, "pending": 1}

    def test_the_repeat_is_with_one_occurrence_only_and_all_else_that_is_asked_stays(
        self, subject, disturb
    ):
        policy = json.dumps({"retrymax": 3} | json.loads(every(60, first=10)))
        subject.commit(0, commands=[put(A, 0, due=10, policy=policy)])
        [claimed] = subject.store.commit(tick(1, 9, until=10)).to_pylist()
        disturb()
        alone = {"retrymax": 3, "missed": at(100) + 1}  # once the next one is missed, by 30 s
        assert json.loads(claimed["policy"]) == alone
        first, second = subject.inspector.versions(A).to_pylist()
        assert json.loads(first["policy"]) == alone
        assert json.loads(second["policy"]) == json.loads(policy)

    def test_an_occurrence_put_back_and_claimed_again_does_not_repeat_again(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=10, policy=every(60, first=10))], until=10)
        disturb()
        subject.commit(1, 11, outcomes=[outcome(A, 0, "pending", due=20, attempt=1)])
        disturb()
        assert numbers(subject.store.commit(tick(2, 19, until=20))) == [(A, 0)]
        disturb()
        assert states(subject) == {0: "claimed", 1: "pending"}
        assert subject.stats().ledger.accepted == 2

    def test_two_occurrences_of_a_key_may_be_pending_and_each_is_claimed_at_its_time(
        self, subject, disturb
    ):
        subject.commit(0, commands=[put(A, 0, due=10, policy=every(60, first=10))], until=10)
        subject.commit(1, 11, outcomes=[outcome(A, 0, "pending", due=100)])
        disturb()
        assert states(subject) == {0: "pending", 1: "pending"}
        assert subject.store.next_due() <= at(70)
        assert numbers(subject.store.commit(tick(2, 69, until=70))) == [(A, 1)]
        disturb()
        assert subject.store.next_due() <= at(100)
        claims = subject.store.commit(tick(3, 99, until=130))
        assert numbers(claims) == [(A, 0), (A, 2)]
        disturb()
        assert states(subject) == {0: "claimed", 1: "claimed", 2: "claimed", 3: "pending"}
        assert subject.stats().ledger.difference == 0
        assert numbers(subject.store.unsettled()) == [(A, 1), (A, 0), (A, 2)]

    @pytest.mark.parametrize("back", [100, 1_000_000])
    def test_a_cancel_closes_every_pending_occurrence_and_ends_the_series(
        self, subject, disturb, back
    ):
        subject.commit(0, commands=[put(A, 0, due=10, policy=every(60, first=10))], until=10)
        subject.commit(1, 11, outcomes=[outcome(A, 0, "pending", due=back)])
        disturb()
        subject.commit(2, 12, commands=[cancel(A, 1)])
        disturb()
        assert states(subject) == {0: "cancelled", 1: "cancelled"}
        assert subject.commit(3, 13, until=2_000_000) == []
        assert subject.stats().ledger.late_cancels == 0

    def test_a_put_replaces_every_pending_occurrence_and_ends_the_series(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=10, policy=every(60, first=10))], until=10)
        subject.commit(1, 11, outcomes=[outcome(A, 0, "pending", due=100)])
        disturb()
        subject.commit(2, 12, commands=[put(A, 1, due=20)])
        disturb()
        assert subject.ends() == {"replaced": 2, "pending": 1}
        assert subject.commit(3, 19, until=1_000) == [(A, 1)]
        disturb()
        assert subject.ends() == {"replaced": 2, "claimed": 1}

    def test_a_claimed_occurrence_that_is_retracted_ends_with_the_series(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=10, policy=every(60, first=10))], until=10)
        disturb()
        taken_back = [outcome(A, 0, "cancelled")]
        subject.commit(1, 9, commands=[cancel(A, 1)], outcomes=taken_back, until=100)
        disturb()
        assert states(subject) == {0: "cancelled", 1: "cancelled"}
        assert subject.store.unsettled().num_rows == 0

    def test_an_occurrence_put_back_is_not_replaced_because_the_next_one_is_there(
        self, subject, disturb
    ):
        subject.commit(0, commands=[put(A, 0, due=10, policy=every(5, first=10))], until=16)
        disturb()
        assert states(subject) == {0: "claimed", 1: "claimed", 2: "pending"}
        backs = [outcome(A, 0, "pending", occurrence=n, due=50 + n) for n in (0, 1)]
        subject.commit(1, 11, outcomes=backs)
        disturb()
        assert states(subject) == {0: "pending", 1: "pending", 2: "pending"}
        subject.commit(2, 12, commands=[put(B, 1, due=1_000)])
        disturb()
        later = tick(3, 49, until=51, limit=3)
        assert numbers(subject.store.commit(later)) == [(A, 2), (A, 3), (A, 4)]
        disturb()
        assert states(subject)[0] == states(subject)[1] == states(subject)[5] == "pending"

    def test_occurrences_that_are_due_in_one_tick_are_claimed_in_it(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=10, policy=every(0.1, first=10))])
        disturb()
        claims = subject.store.commit(tick(1, 10, until=10.45))
        assert numbers(claims) == [(A, n) for n in range(5)]
        assert claims.column("due").to_pylist() == [at(10 + n / 10) for n in range(5)]
        disturb()
        assert names_of(subject.pending()) == [A]
        assert subject.ends() == {"claimed": 5, "pending": 1}
        assert numbers(subject.store.claims_of(1)) == [(A, n) for n in range(5)]
        ended = [outcome(A, 0, "done", occurrence=n, **receipt(offset=n)) for n in range(5)]
        again = subject.store.commit(tick(2, 11, outcomes=ended, until=10.75))
        assert numbers(again) == [(A, 5), (A, 6), (A, 7)]
        disturb()
        assert subject.ends() == {"done": 5, "claimed": 3, "pending": 1}

    def test_a_put_its_claim_and_what_follows_may_fall_in_one_batch(self, subject, disturb):
        said = {"commands": [put(A, 3, due=10, superseded=2, policy=every(1, first=10, count=3))]}
        claims = subject.store.commit(tick(0, 10, until=100, **said))
        assert numbers(claims) == [(A, 0), (A, 1), (A, 2)]
        disturb()
        assert subject.stats().ledger.accepted == 5
        assert subject.ends() == {"replaced": 2, "claimed": 3}
        assert numbers(subject.store.unsettled()) == [(A, 0), (A, 1), (A, 2)]

    def test_no_more_occurrences_are_made_than_there_is_room_for(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=10, policy=every(1, first=10, on_miss="all"))])
        claimed = []
        for batch in (1, 2, 3):
            disturb()
            claims = subject.store.commit(tick(batch, 500, until=500, limit=2))
            claimed += [n for _, n in numbers(claims)]
            assert subject.stats().ledger.accepted == len(claimed) + 1
        assert claimed == [0, 1, 2, 3, 4, 5]

    def test_what_follows_competes_for_room_in_the_order_of_release(self, subject, disturb):
        repeating = put(A, 0, due=10, policy=every(10, first=10))
        others = [put(b"%d" % n, n, due=due) for n, due in enumerate([15, 25, 35], 1)]
        subject.commit(0, commands=[repeating, *others])
        disturb()
        first = subject.store.commit(tick(1, 10, until=60, limit=4))
        assert first.column("due").to_pylist() == [at(10), at(15), at(20), at(25)]
        disturb()
        second = subject.store.commit(tick(2, 10, until=60, limit=4))
        assert second.column("due").to_pylist() == [at(30), at(35), at(40), at(50)]
        disturb()
        assert subject.ends() == {"claimed": 8, "pending": 1}

    def test_what_follows_keeps_to_the_quota_of_its_topic(self, subject, disturb):
        slow = put(A, 0, due=10, output_topic="slow", policy=every(1, first=10, on_miss="all"))
        subject.commit(0, commands=[slow, put(B, 1, due=12)])
        disturb()
        room = Room((100,), backlog_before=at(50), quotas={"slow": 3})
        claims = subject.store.commit(tick(1, 60, until=60, limit=room))
        assert numbers(claims) == [(A, 0), (A, 1), (A, 2), (B, 0)]

    def test_the_lanes_of_what_follows_are_those_of_its_key(self, subject, disturb):
        keys = [bytes([n]) for n in range(12)]
        puts = [put(k, n, due=10, policy=every(1, first=10)) for n, k in enumerate(keys)]
        subject.commit(0, commands=puts)
        disturb()
        room = Room((6, 0, 9))
        claims = subject.store.commit(tick(1, 10, until=13, limit=room))
        lanes = [number % 3 for number in claims.column("hash").to_pylist()]
        assert (lanes.count(0), lanes.count(1), lanes.count(2)) == (6, 0, 9)
        assert subject.stats().ledger.difference == 0

    def test_a_batch_told_again_makes_nothing_more_and_tells_the_same_claims(
        self, subject, disturb
    ):
        said = {"commands": [put(A, 0, due=10, policy=every(1, first=10))], "until": 13}
        first = subject.store.commit(tick(4, 10, **said))
        disturb()
        assert subject.store.commit(tick(4, 20, **said)).to_pylist() == first.to_pylist()
        disturb()
        ended = [outcome(A, 0, "done", occurrence=n, **receipt(offset=n)) for n in (0, 2)]
        subject.settle(*ended)
        disturb()
        assert subject.store.commit(tick(4)).to_pylist() == first.to_pylist()
        assert subject.stats().ledger.accepted == 5

    @pytest.mark.parametrize("end", [{"count": 3}, {"until": 30.5}])
    def test_a_series_ends_as_it_was_asked_to(self, subject, disturb, end):
        subject.commit(0, commands=[put(A, 0, due=10, policy=every(10, first=10, **end))])
        claimed = []
        for batch, now in enumerate((10, 20, 30, 40, 50), 1):
            disturb()
            claimed += numbers(subject.store.commit(tick(batch, now, until=now)))
        assert claimed == [(A, 0), (A, 1), (A, 2)]
        assert subject.ends() == {"claimed": 3}
        assert subject.store.next_due() is None
        policies = [r["policy"] for r in subject.inspector.versions(A).to_pylist()]
        missed = [p and json.loads(p) for p in policies]
        assert missed == [{"missed": at(50) + 1}, {"missed": at(60) + 1}, None]

    @pytest.mark.parametrize(
        ("on_miss", "claimed", "sent", "missed"),
        [
            ("last", [0, 6, 7], [6, 7], 5),
            ("skip", [0, 7], [7], 6),
            ("all", [0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 5, 6, 7], 0),
        ],
    )
    def test_occurrences_that_are_passed_over_are_counted_as_missed(
        self, subject, disturb, on_miss, claimed, sent, missed
    ):
        """One that is claimed has the instant from which on it is missed, and then not sent."""
        policy = every(10, first=10, on_miss=on_miss)
        subject.commit(0, commands=[put(A, 0, due=10, policy=policy)])
        disturb()
        claims = subject.store.commit(tick(1, 85, until=85, miss_after=10))
        assert [n for _, n in numbers(claims)] == claimed
        ends = [json.loads(text or "{}").get("missed") for text in claims["policy"].to_pylist()]
        assert [
            n for n, end in zip(claimed, ends, strict=True) if end is None or at(85) < end
        ] == sent
        disturb()
        ledger = subject.stats().ledger
        assert (ledger.missed, ledger.accepted) == (missed, len(claimed) + 1)
        assert ledger.difference == 0

    def test_a_series_goes_by_what_was_scheduled_not_by_when_it_is_tried(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=10, policy=every(60, first=10))])
        disturb()
        subject.commit(1, 5, outcomes=[outcome(A, 0, "pending", due=33, reason="waited")])
        disturb()
        claims = subject.store.commit(tick(2, 32, until=33))
        assert claims.column("due").to_pylist() == [at(33)]
        disturb()
        [row] = subject.rows(statuses=[Status.PENDING]).to_pylist()
        assert (row["occurrence"], row["due"], row["reason"]) == (1, at(70), None)

    def test_each_occurrence_has_an_expiry_of_its_own(self, subject, disturb):
        policy = json.loads(every(60, first=10)) | {"expireafter": 5_000_000, "expires": at(15)}
        subject.commit(0, commands=[put(A, 0, due=10, policy=json.dumps(policy))])
        disturb()
        [claimed] = subject.store.commit(tick(1, 10, until=10)).to_pylist()
        assert json.loads(claimed["policy"]) == {"expires": at(15), "missed": at(100) + 1}
        disturb()
        [row] = subject.rows(statuses=[Status.PENDING]).to_pylist()
        assert json.loads(row["policy"])["expires"] == at(75)

    def test_a_new_series_takes_the_place_of_one_that_is_under_way(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=10, policy=every(10, first=10))], until=20)
        disturb()
        newer = put(A, 1, due=12, policy=every(7, first=12))
        claims = subject.store.commit(tick(1, 12, commands=[newer], until=19))
        assert numbers(claims) == [(A, 0), (A, 1)]
        disturb()
        rows = {(r["source_offset"], r["occurrence"]): r["status"] for r in everything(subject)}
        assert rows == {
            (0, 0): "claimed",
            (0, 1): "claimed",
            (0, 2): "replaced",
            (1, 0): "claimed",
            (1, 1): "claimed",
            (1, 2): "pending",
        }
        old = [outcome(A, 0, "pending", due=40, occurrence=n) for n in (0, 1)]
        new = [outcome(A, 1, "pending", due=41, occurrence=n) for n in (0, 1)]
        subject.commit(2, 13, outcomes=[*old, *new])
        disturb()
        assert subject.ends() == {"replaced": 3, "pending": 3}

    def test_an_attempt_belongs_to_its_occurrence(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=10, policy=every(5, first=10))], until=16)
        tried = {"due": 30, "attempt": 1, "attempted_at": [7]}
        subject.commit(1, 16, outcomes=[outcome(A, 0, "pending", occurrence=1, **tried)])
        disturb()
        claims = subject.store.commit(tick(2, 29, until=30)).to_pylist()
        attempts = {row["occurrence"]: (row["attempt"], row["attempted_at"]) for row in claims}
        assert attempts == {1: (1, [7]), 2: (0, None), 3: (0, None), 4: (0, None)}

    def test_done_with_the_receipt_unknown_is_corrected_also_of_an_occurrence(
        self, subject, disturb
    ):
        subject.commit(0, commands=[put(A, 0, due=10, policy=every(5, first=10))], until=16)
        subject.settle(outcome(A, 0, "done", occurrence=1, reason="receipt_unknown"))
        for batch in (1, 2):
            subject.commit(batch, commands=[put(C, batch, due=1_000_000)])
            disturb()
        note = outcome(A, 0, "pending", occurrence=1, due=18, attempt=1)
        subject.commit(3, 17, outcomes=[note])
        disturb()
        assert states(subject) == {0: "claimed", 1: "pending", 2: "pending"}
        assert numbers(subject.store.commit(tick(4, 17, until=18))) == [(A, 1)]


def names_of(named):
    return [key for key, _ in named]


def everything(subject):
    return subject.rows(kind=None).to_pylist()
