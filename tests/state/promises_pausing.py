"""What is paused does not go out, and goes on where it was."""

import pytest
from build import (
    A,
    B,
    C,
    at,
    cancel,
    every,
    identity_of,
    names,
    numbers,
    order,
    outcome,
    put,
    reject,
    tick,
)

from state.claims import Room
from state.pausing import Paused
from state.row import PARKED, PARKED_ALONE, Kind

NOTHING = Paused()
ALL = Paused(everything=True)
SLOW = Paused(topics=frozenset({"slow", "other"}))


class Pausing:
    """What is paused does not go out, and goes on where it was."""

    def test_what_is_paused_is_remembered_with_the_commit(self, subject, disturb):
        assert subject.store.paused == NOTHING
        subject.commit(0, paused=SLOW)
        disturb()
        assert subject.store.paused == SLOW
        assert subject.store.last_batch == 0
        subject.commit(1, commands=[put(A, 0, due=5)])
        disturb()
        assert subject.store.paused == subject.stats().pauses == SLOW
        subject.commit(2, paused=NOTHING)
        disturb()
        assert subject.store.paused == NOTHING

    @pytest.mark.parametrize("paused", [ALL, SLOW], ids=["everything", "topic"])
    def test_what_would_be_claimed_and_is_paused_is_parked(self, subject, disturb, paused):
        subject.commit(0, commands=[put(A, 0, due=5, output_topic="slow")], paused=paused)
        disturb()
        assert subject.row(A, 0)["due"] == at(5)
        assert subject.commit(1, now=5, until=5) == []
        disturb()
        row = subject.row(A, 0)
        assert (row["status"], row["due"], row["scheduled"]) == ("pending", PARKED, at(5))
        assert row["payload"] == b"payload of a at 0"
        assert subject.store.next_due() is None
        assert subject.ends() == {"pending": 1}
        stats = subject.stats()
        assert (stats.paused, stats.next_due, stats.pending_by_topic) == (1, None, {"slow": 1})
        assert subject.commit(2, now=6, until=100) == []
        disturb()
        assert subject.commit(3, now=7, until=7, paused=NOTHING) == [(A, 0)]
        disturb()
        row = subject.row(A, 0)
        assert (row["status"], row["due"], row["claim"]) == ("claimed", at(5), 3)
        assert subject.stats().paused == 0

    def test_other_topics_dead_letters_and_replies_go_on(self, subject, disturb):
        subject.commit(0, paused=SLOW)
        said = [put(A, 0, due=1, output_topic="slow"), put(B, 1, due=2), reject(2)]
        reply = order(3, output_topic="other", payload=b"well")
        claims = subject.commit(1, commands=[*said, reply], until=5)
        assert sorted(offset for _, offset in claims) == [1, 2, 3]
        disturb()
        kept = subject.commit(2, commands=[reject(4)], until=5, paused=ALL)
        assert kept == [(b"refused 4", 4)]
        assert subject.stats().paused == 1

    def test_what_comes_in_while_its_topic_is_paused_waits(self, subject, disturb):
        subject.commit(0, paused=SLOW)
        subject.commit(1, commands=[put(A, 0, due=-5, output_topic="slow", superseded=1)], until=5)
        disturb()
        assert subject.row(A, 0)["due"] == PARKED
        assert subject.stats().ledger.accepted == 2
        assert subject.commit(2, until=5, paused=NOTHING) == [(A, 0)]

    def test_only_what_is_no_longer_paused_comes_back(self, subject, disturb):
        puts = [put(A, 0, due=1, output_topic="slow"), put(B, 1, due=2, output_topic="other")]
        subject.commit(0, commands=[*puts, put(C, 2, due=3)], paused=ALL)
        subject.commit(1, until=5)
        disturb()
        assert subject.stats().paused == 3
        slow = Paused(topics=frozenset({"slow"}))
        assert subject.commit(2, until=5, paused=slow) == [(B, 1), (C, 2)]
        disturb()
        assert subject.pending() == [(A, 0)]
        assert subject.commit(3, until=5) == []
        disturb()
        assert subject.commit(4, until=5, paused=NOTHING) == [(A, 0)]

    def test_a_parked_row_is_replaced_and_cancelled_like_any_other(self, subject, disturb):
        puts = [put(k, n, due=1) for n, k in enumerate((A, B, C))]
        subject.commit(0, commands=puts, until=5, paused=ALL)
        disturb()
        subject.commit(1, commands=[put(A, 3, due=9), cancel(B, 4)], until=5)
        disturb()
        assert subject.ends() == {"replaced": 1, "cancelled": 1, "pending": 2}
        assert (subject.stats().paused, subject.stats().ledger.late_cancels) == (1, 0)
        assert subject.commit(2, until=100, paused=NOTHING) == [(C, 2), (A, 3)]

    def test_a_command_in_the_commit_that_ends_a_pause_still_comes_first(self, subject, disturb):
        puts = [put(k, n, due=1) for n, k in enumerate((A, B, C))]
        subject.commit(0, commands=puts, until=5, paused=ALL)
        disturb()
        said = {
            "commands": [put(A, 3, due=2), cancel(B, 4)],
            "outcomes": [outcome(C, 2, "expired")],
        }
        assert subject.commit(1, until=5, paused=NOTHING, **said) == [(A, 3)]
        disturb()
        assert subject.ends() == {"replaced": 1, "cancelled": 1, "expired": 1, "claimed": 1}

    def test_no_more_is_parked_at_once_than_there_is_room_for(self, subject, disturb):
        subject.commit(0, commands=[put(b"%d" % n, n, due=n) for n in range(5)], paused=ALL)
        for batch, parked in enumerate((2, 4, 5, 5), 1):
            disturb()
            subject.commit(batch, now=9, until=9, limit=2)
            assert subject.stats().paused == parked
        claims = subject.commit(9, now=9, until=9, limit=Room((3,)), paused=NOTHING)
        assert [offset for _, offset in claims] == [0, 1, 2]

    def test_rows_come_back_so_many_at_a_time(self, subject, disturb, monkeypatch):
        for module in ("state.memory", "state.delta.store", "state.mongo.store"):
            monkeypatch.setattr(f"{module}.UNPARK_ROWS", 2)
        keys = [b"%d" % n for n in range(5)]
        subject.commit(0, commands=[put(k, n, due=1) for n, k in enumerate(keys)], paused=ALL)
        subject.commit(1, now=2, until=2)
        disturb()
        claimed = subject.commit(2, now=2, until=2, paused=NOTHING)
        for batch in (3, 4, 5):
            disturb()
            assert len(claimed) == min(5, 2 * (batch - 2))
            claimed += subject.commit(batch, now=2, until=2)
        assert sorted(key for key, _ in claimed) == keys
        assert subject.ends() == {"claimed": 5}

    def test_a_claimed_row_that_is_put_back_while_paused_is_parked(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=1)], until=5)
        disturb()
        back = outcome(A, 0, "pending", due=3, attempt=1, attempted_at=[7])
        assert subject.commit(1, outcomes=[back], until=5, paused=ALL) == []
        disturb()
        row = subject.row(A, 0)
        assert (row["due"], row["attempt"], row["claim"]) == (PARKED, 1, None)
        [claimed] = subject.store.commit(tick(2, until=5, paused=NOTHING)).to_pylist()
        assert (claimed["due"], claimed["attempt"], claimed["attempted_at"]) == (at(1), 1, [7])

    def test_a_paused_series_goes_on_with_what_is_not_missed(self, subject, disturb):
        series = put(A, 0, due=10, policy=every(10, first=10, on_miss="skip"))
        subject.commit(0, commands=[series], paused=ALL)
        for batch, now in enumerate((10, 20, 60), 1):
            disturb()
            assert subject.commit(batch, now=now, until=now) == []
        assert subject.stats().ledger.accepted == 1
        claims = subject.store.commit(tick(4, 61, until=61, paused=NOTHING, miss_after=5))
        assert numbers(claims) == [(A, 0), (A, 5)]
        disturb()
        assert subject.stats().ledger.missed == 4

    @pytest.mark.parametrize("due", [5, 1_000_000])
    def test_a_single_version_is_parked_and_brought_back_by_outcomes(self, subject, disturb, due):
        subject.commit(0, commands=[put(A, 0, due=due), put(B, 1, due=due)])
        disturb()
        subject.commit(1, outcomes=[outcome(A, 0, "pending", due=PARKED_ALONE)])
        disturb()
        row = subject.row(A, 0)
        assert (row["status"], row["due"], row["scheduled"]) == ("pending", PARKED_ALONE, at(due))
        assert subject.stats().paused == 1
        assert subject.commit(2, until=due) == [(B, 1)]
        disturb()
        for batch, paused in ((3, ALL), (4, NOTHING)):
            assert subject.commit(batch, until=due, paused=paused) == []
            disturb()
        assert (subject.store.next_due() or 0) < PARKED
        back = outcome(A, 0, "pending", due=due)
        assert subject.commit(5, outcomes=[back], until=due) == [(A, 0)]
        assert subject.stats().paused == 0

    def test_a_version_parked_alone_is_replaced_and_cancelled_like_any_other(
        self, subject, disturb
    ):
        subject.commit(0, commands=[put(A, 0, due=5), put(B, 1, due=5)])
        alone = [outcome(k, n, "pending", due=PARKED_ALONE) for n, k in enumerate((A, B))]
        subject.commit(1, outcomes=alone)
        disturb()
        subject.commit(2, commands=[put(A, 2, due=7), cancel(B, 3)])
        disturb()
        assert subject.ends() == {"replaced": 1, "cancelled": 1, "pending": 1}
        assert subject.commit(3, until=9) == [(A, 2)]

    def test_parked_rows_are_pending_of_their_key(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=5)], until=9, paused=ALL)
        disturb()
        for whole in (False, True):
            [row] = subject.store.pending([identity_of(A)], whole).to_pylist()
            assert (row["due"], row["scheduled"]) == (PARKED, at(5))

    def test_a_batch_that_parked_told_again_changes_nothing(self, subject, disturb):
        said = {"commands": [put(A, 0, due=1, output_topic="slow"), put(B, 1, due=1)], "until": 5}
        first = subject.store.commit(tick(3, paused=SLOW, **said))
        assert names(first) == [(B, 1)]
        disturb()
        again = subject.store.commit(tick(3, paused=NOTHING, **said))
        assert again.to_pylist() == first.to_pylist()
        assert subject.store.paused == SLOW
        assert subject.statuses(kind=Kind.MESSAGE) == {(A, 0): "pending", (B, 1): "claimed"}
