"""What becomes of puts that a policy turned away, and of orders to the job."""

from build import (
    A,
    B,
    at,
    cancel,
    every,
    identity_of,
    ignored,
    names,
    numbers,
    order,
    outcome,
    put,
    receipt,
    tick,
)

from state.row import OF_COMMAND, Kind


class Orders:
    """What becomes of puts that a policy turned away, and of orders to the job."""

    def test_a_put_turned_away_is_closed_at_once_and_touches_nothing(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=5)])
        disturb()
        subject.commit(1, now=1, commands=[ignored(A, 1, "small_change")])
        disturb()
        assert subject.statuses() == {(A, 0): "pending", (A, 1): "replaced"}
        row = subject.row(A, 1)
        assert (row["reason"], row["changed_at"]) == ("small_change", at(1))
        assert row["payload"] == b"payload of a at 1"
        assert subject.stats().ledger.accepted == 2
        assert subject.commit(2, until=10) == [(A, 0)]

    def test_a_put_turned_away_of_a_key_that_nothing_is_known_of_is_remembered(
        self, subject, disturb
    ):
        subject.commit(0, commands=[ignored(A, 0, "duplicate")])
        disturb()
        assert subject.statuses() == {(A, 0): "replaced"}
        assert subject.ends() == {"replaced": 1}
        assert subject.store.next_due() is None
        assert subject.commit(1, commands=[put(A, 1, due=5)], until=9) == [(A, 1)]

    def test_several_may_be_turned_away_in_a_batch_beside_the_command_that_counts(
        self, subject, disturb
    ):
        subject.commit(0, commands=[put(A, 0, due=50), put(B, 1, due=60)])
        disturb()
        said = [ignored(A, 2), put(A, 3, due=7, superseded=1), ignored(A, 4), ignored(A, 5)]
        subject.commit(1, commands=[*said, ignored(B, 6), cancel(B, 7), ignored(B, 8)])
        disturb()
        assert subject.ends() == {"replaced": 7, "cancelled": 1, "pending": 1}
        assert subject.stats().ledger.accepted == 9
        assert subject.stats().ledger.late_cancels == 0
        assert subject.commit(2, until=100) == [(A, 3)]

    def test_a_put_turned_away_is_taken_once(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=5), ignored(A, 1)])
        disturb()
        subject.commit(1, commands=[ignored(A, 1), put(B, 1, due=5)])
        disturb()
        assert subject.stats().ledger.accepted == 2

    def test_later_commands_are_not_compared_with_what_was_turned_away(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=50, stamp=10)])
        disturb()
        subject.commit(1, commands=[ignored(A, 0, partition=1, stamp=30)])
        disturb()
        subject.commit(2, commands=[put(A, 0, due=7, partition=2, stamp=20)])
        disturb()
        [claimed] = subject.store.commit(tick(3, until=10)).to_pylist()
        assert claimed["source_partition"] == 2
        back = outcome(A, 0, "pending", due=9, partition=2, stamp=20)
        subject.commit(4, outcomes=[back])
        disturb()
        assert subject.ends() == {"replaced": 2, "pending": 1}

    def test_a_put_turned_away_leaves_a_claimed_version_and_its_series_alone(
        self, subject, disturb
    ):
        subject.commit(0, commands=[put(A, 0, due=5, policy=every(10, first=5))], until=5)
        disturb()
        claims = subject.store.commit(tick(1, 14, commands=[ignored(A, 1)], until=15))
        assert numbers(claims) == [(A, 1)]
        disturb()
        assert subject.ends() == {"claimed": 2, "replaced": 1, "pending": 1}

    def test_an_order_is_remembered_and_no_part_of_the_ledger(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=50)])
        assert subject.commit(1, now=3, commands=[order(1, about=A), order(2)], until=10) == []
        disturb()
        rows = subject.rows(kind=Kind.COMMAND).to_pylist()
        assert [(r["key"], r["status"], r["reason"]) for r in rows] == [
            (A, "done", "paused"),
            (None, "done", "paused"),
        ]
        assert {(r["detail"], r["changed_at"]) for r in rows} == {('{"by":"me"}', at(3))}
        ledger = subject.stats().ledger
        assert (ledger.accepted, ledger.rejected, sum(ledger.ends.values())) == (1, 0, 1)
        assert subject.statuses() == {(A, 0): "pending"}

    def test_the_versions_of_a_key_include_the_orders_about_it(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=50)])
        subject.commit(1, commands=[order(1, about=A), order(2, about=B)])
        disturb()
        found = subject.inspector.versions(A).to_pylist()
        assert [(row["kind"], row["source_offset"]) for row in found] == [
            ("message", 0),
            ("command", 1),
        ]

    def test_an_order_that_is_answered_goes_out_and_keeps_its_effect(self, subject, disturb):
        answered = order(1, about=A, output_topic="replies", payload=b"well")
        claims = subject.store.commit(tick(0, commands=[answered], until=0))
        assert names(claims) == [(A, 1)]
        assert claims.column("payload").to_pylist() == [b"well"]
        disturb()
        told = {"identity": identity_of(b"order 1"), "reason": "paused", "detail": "{}"}
        done = outcome(b"order 1", 1, "done", occurrence=OF_COMMAND, **receipt()) | told
        subject.commit(1, outcomes=[done])
        disturb()
        [row] = subject.rows(kind=Kind.COMMAND).to_pylist()
        assert (row["status"], row["reason"], row["published_offset"]) == ("done", "paused", 77)
        assert subject.store.unsettled().num_rows == 0
        assert subject.stats().ledger.accepted == 0

    def test_an_order_is_taken_once(self, subject, disturb):
        subject.commit(0, commands=[order(5, about=A)])
        disturb()
        subject.commit(1, commands=[order(5, about=A), order(6, about=A)])
        disturb()
        assert subject.rows(kind=Kind.COMMAND).num_rows == 2
