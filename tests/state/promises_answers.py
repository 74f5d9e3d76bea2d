"""What a state answers: content, instants, rows and versions."""

import zlib

import pytest
from build import A, B, C, at, names, outcome, put, tick

from state.row import LIVE, Status


class Answers:
    """What a state answers: content, instants, rows and versions."""

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

    def test_a_key_is_found_where_topics_share_their_keys(self, subject, disturb):
        shared = {"identity": b"shared\0" + A, "hash": zlib.crc32(b"shared\0" + A)}
        subject.commit(0, commands=[put(A, 0, due=5) | shared])
        disturb()
        subject.commit(1, commands=[put(A, 1, due=6) | shared, put(B, 2, due=7)])
        disturb()
        found = subject.inspector.versions(A, "in").to_pylist()
        assert [row["status"] for row in found] == ["replaced", "pending"]
        assert names(subject.rows(key=A, statuses=LIVE)) == [(A, 1)]
        assert names(subject.rows(key_prefix=A, statuses=LIVE, limit=5)) == [(A, 1)]
