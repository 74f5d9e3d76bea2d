"""What is pending of a key, as of the last commit."""

import pytest
from build import A, B, C, at, cancel, every, identity_of, ignored, outcome, put, reject, tick

FIELDS = ["identity", "source_topic", "source_partition", "source_offset", "source_timestamp"]
FIELDS += ["occurrence", "kind", "due", "scheduled", "output_topic", "policy"]


def asked(subject, *keys, whole=False):
    """Return the rows that are pending of some keys, by key."""
    rows = subject.store.pending([identity_of(key) for key in keys], whole).to_pylist()
    rows.sort(key=lambda row: row["occurrence"])  # of several the last is looked at
    return {row["identity"].removeprefix(b"in\0"): row for row in rows}


def places(subject, *keys, **more):
    found = asked(subject, *keys, **more)
    return {key: (row["source_offset"], row["occurrence"]) for key, row in found.items()}


class Keys:
    """What is pending of a key, as of the last commit."""

    @pytest.mark.parametrize("whole", [False, True])
    def test_what_is_pending_of_keys_is_told(self, subject, disturb, whole):
        policy = '{"same":{"policy":"keep_first"}}'
        puts = [put(A, 0, due=5, policy=policy), put(B, 1, due=1_000_000, output_topic="far")]
        subject.commit(0, commands=[*puts, put(C, 2, due=7)])
        disturb()
        subject.commit(1, commands=[put(b"d", 3, due=8)])
        disturb()
        found = asked(subject, A, B, b"d", b"nobody", A, whole=whole)
        assert list(sorted(found)) == [A, B, b"d"]
        shown = {row["key"]: row for row in subject.rows().to_pylist()}
        for key, row in found.items():
            names = list(row) if whole else FIELDS
            assert {name: row[name] for name in names} == {n: shown[key][n] for n in names}
        assert asked(subject) == {}

    def test_what_was_replaced_cancelled_or_claimed_is_not_pending_any_more(self, subject, disturb):
        keys = [b"%d" % n for n in range(4)]
        dues = [1, 50, 1_000_000, 2_000_000]
        subject.commit(0, commands=[put(k, n, due=dues[n]) for n, k in enumerate(keys)])
        disturb()
        assert places(subject, *keys) == {k: (n, 0) for n, k in enumerate(keys)}
        subject.commit(1, commands=[cancel(keys[1], 10), put(keys[2], 11, due=3_000_000)], until=1)
        disturb()
        assert places(subject, *keys) == {keys[2]: (11, 0), keys[3]: (3, 0)}
        assert asked(subject, keys[2])[keys[2]]["due"] == at(3_000_000)
        subject.commit(2, outcomes=[outcome(keys[3], 3, "expired")])
        disturb()
        assert places(subject, *keys, whole=True) == {keys[2]: (11, 0)}

    def test_what_is_put_back_is_pending_again(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=1), put(B, 1, due=1)], until=1)
        disturb()
        assert asked(subject, A, B) == {}
        back = [outcome(A, 0, "pending", due=9, attempt=1), outcome(B, 1, "pending", due=900_000)]
        subject.commit(1, outcomes=back)
        disturb()
        found = asked(subject, A, B, whole=True)
        assert {key: row["due"] for key, row in found.items()} == {A: at(9), B: at(900_000)}
        assert found[A]["payload"] == b"payload of a at 0"
        assert (found[A]["scheduled"], found[A]["attempt"]) == (at(1), 1)

    @pytest.mark.parametrize("whole", [False, True])
    def test_of_several_pending_versions_the_newest_is_told(self, subject, disturb, whole):
        subject.commit(0, commands=[put(A, 0, due=10, policy=every(5, first=10))], until=16)
        subject.commit(1, 17, outcomes=[outcome(A, 0, "pending", due=30, occurrence=1)])
        disturb()
        assert places(subject, A, whole=whole) == {A: (0, 2)}
        subject.commit(2, 20, until=20)
        disturb()
        assert places(subject, A, whole=whole) == {A: (0, 3)}
        subject.commit(3, 21, commands=[put(A, 1, due=90)])
        disturb()
        assert places(subject, A, whole=whole) == {A: (1, 0)}

    def test_neither_what_was_turned_away_nor_refused_records_are_told(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=10), ignored(A, 1), ignored(B, 2), reject(3)])
        disturb()
        assert places(subject, A, B) == {A: (0, 0)}

    def test_keys_are_told_as_of_every_commit(self, subject, disturb):
        for batch in range(8):
            subject.commit(batch, batch, commands=[put(A, batch, due=1_000 + batch)])
            if batch % 2:
                disturb()
            assert places(subject, A, B) == {A: (batch, 0)}
        subject.store.commit(tick(8, commands=[cancel(A, 8)]))
        assert asked(subject, A, whole=True) == {}
