"""What a list promises: its order, and pages that nothing shifts."""

from dataclasses import replace

import pytest
from build import A, B, C, cancel, names, order, outcome, put, receipt, reject

from state.errors import ConfigError
from state.inspect import Cursor, Filter, Order, page
from state.row import LIVE, Status

FORWARDS = [(b"%02d" % i, i) for i in range(9)]


def _all_pages(subject, where, size, between=lambda: None):
    keys = []
    while True:
        rows, after = page(subject.inspector, where, size)
        keys += rows.column("key").to_pylist()
        if after is None:
            return keys
        between()
        where = replace(where, after=Cursor.from_text(after.to_text()))


class Pages:
    """What a list promises: its order, and pages that nothing shifts."""

    @pytest.mark.parametrize("order", [Order.NEXT_DUE, Order.LAST_DUE])
    def test_lists_go_by_due_either_way(self, subject, disturb, order):
        # Pairs are due at the same instant; then the order of their records decides.
        places = [0, 2, 4, 6, 8, 1, 3, 5, 7]
        puts = [put(b"%02d" % at, i, due=10 + at // 2) for i, at in enumerate(places)]
        subject.commit(0, commands=puts[:5])
        disturb()
        subject.commit(1, commands=puts[5:])
        disturb()
        keys = [key for key, _ in FORWARDS]
        expected = keys if order is Order.NEXT_DUE else keys[::-1]
        assert subject.rows(order=order).column("key").to_pylist() == expected
        assert subject.rows(order=order, limit=3).column("key").to_pylist() == expected[:3]
        where = Filter(statuses=LIVE, order=order)
        for size in (1, 2, 9):
            assert _all_pages(subject, where, size) == [key.decode() for key in expected]

    def test_what_ended_is_listed_newest_first(self, subject, disturb):
        subject.commit(0, commands=[put(key, i, due=1 + i) for key, i in FORWARDS], until=100)
        disturb()
        for batch, some in enumerate([[4, 1], [0, 3], [2]], start=1):
            ends = [outcome(*FORWARDS[i], "done", **receipt(offset=i)) for i in some]
            subject.commit(batch, now=batch, outcomes=ends)
            disturb()
        done = Filter(statuses=[Status.DONE], order=Order.LAST_CHANGED)
        for size in (1, 2, 5):
            assert _all_pages(subject, done, size) == ["02", "03", "00", "04", "01"]
        assert names(subject.rows(order=Order.LAST_CHANGED, limit=1)) == [FORWARDS[2]]
        everything = Filter(order=Order.LAST_CHANGED)
        assert _all_pages(subject, everything, 2)[5:] == ["08", "07", "06", "05"]

    def test_the_dead_of_every_kind_are_one_list(self, subject, disturb):
        refused = reject(2)
        subject.commit(0, commands=[put(A, 0, due=1), put(B, 1, due=1), refused], until=5)
        disturb()
        subject.commit(1, now=1, outcomes=[outcome(A, 0, "dead", reason="unknown_topic")])
        disturb()
        letter = outcome(refused["key"], 2, "dead", **receipt())
        subject.commit(2, now=2, outcomes=[letter, outcome(B, 1, "done", **receipt())])
        disturb()
        dead = Filter(statuses=[Status.DEAD], kind=None, order=Order.LAST_CHANGED)
        assert _all_pages(subject, dead, 1) == ["refused 2", "a"]
        assert _all_pages(subject, replace(dead, source_topic="in"), 5) == ["refused 2", "a"]
        assert _all_pages(subject, replace(dead, source_topic="elsewhere"), 5) == []

    @pytest.mark.parametrize("order", [Order.NEXT_DUE, Order.LAST_DUE])
    def test_rows_that_come_and_go_shift_no_page(self, subject, disturb, order):
        puts = [put(key, i, due=10 + i) for key, i in FORWARDS]
        subject.commit(0, commands=puts)
        disturb()
        where = Filter(statuses=LIVE, order=order)
        rows, after = page(subject.inspector, where, size=4)
        keys = rows.column("key").to_pylist()
        shown, coming = (keys[1], keys[3]), "06" if order is Order.NEXT_DUE else "02"
        gone = [cancel(key.encode(), 20 + n) for n, key in enumerate([*shown, coming])]
        early = put(b"early", 30, due=5 if order is Order.NEXT_DUE else 90)
        late = put(b"late", 31, due=90 if order is Order.NEXT_DUE else 5)
        subject.commit(1, commands=[*gone, early, late])
        disturb()
        rest = _all_pages(subject, replace(where, after=after), 2)
        expected = [key.decode() for key, _ in FORWARDS]
        expected = expected if order is Order.NEXT_DUE else expected[::-1]
        assert keys + rest == [key for key in expected if key != coming] + ["late"]

    def test_what_changes_again_is_not_shown_twice(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=1), put(B, 1, due=1), put(C, 2, due=1)], until=5)
        disturb()
        unknown = [outcome(key, i, "done") for i, key in enumerate((A, B, C))]
        subject.commit(1, now=1, outcomes=unknown)
        disturb()
        where = Filter(statuses=[Status.DONE], order=Order.LAST_CHANGED)
        rows, after = page(subject.inspector, where, size=1)
        assert rows.column("key").to_pylist() == ["c"]
        subject.commit(2, now=2, commands=[order(7)], outcomes=[outcome(C, 2, "dead")])
        disturb()
        assert _all_pages(subject, replace(where, after=after), 1) == ["b", "a"]

    def test_a_place_in_another_order_is_refused(self, subject):
        subject.commit(0, commands=[put(A, 0, due=1), put(B, 1, due=2)])
        where = Filter(order=Order.LAST_DUE)
        after = page(subject.inspector, where, size=1).after
        assert Cursor.from_text(after.to_text()) == after
        with pytest.raises(ConfigError, match=r"after: .* ordered by last-due, .* next-due"):
            Filter(after=Cursor.from_text(after.to_text()))
