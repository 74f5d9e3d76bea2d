"""A process that watches a state in Delta tables sees what is there, commit by commit."""

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from build import A, B, at, cancel, names, order, outcome, put, receipt, tick
from promises_answers import Answers
from promises_moved import Moved
from promises_outcomes import Outcomes
from promises_pages import Pages
from promises_pausing import Pausing
from promises_repeats import Repeats
from subject import Subject

from state.delta.base import make_base
from state.delta.tables import tables_of
from state.delta.watch import Watch
from state.delta.watcher import DeltaWatcher
from state.inspect import Filter, Order, page
from state.open import open_inspector, open_store, open_watcher
from state.row import LIVE, Status
from state.settings import DeltaSettings, StateSettings


@pytest.fixture
def settings(tmp_path):
    return StateSettings(delta=DeltaSettings(path=str(tmp_path / "state"), fold_rows=10**9))


@pytest.fixture
def store(settings):
    store = open_store(settings)
    yield store
    store.close()


def from_memory(watcher):
    """Have the next answers come from memory, and from nowhere else."""
    watcher.wait()
    current = watcher._watch.current()
    assert current is not None
    return current


class TestWatchedDelta(Answers, Pages, Outcomes, Repeats, Pausing, Moved):
    """One watcher lives through all that happens to a store."""

    @pytest.fixture(params=["undisturbed", "folded"])
    def disturb(self, request, subject):
        """Fold, or not; that the writer opens its store anew is nothing to a watcher."""
        return subject.fold if request.param == "folded" else lambda: None

    @pytest.fixture
    def subject(self, settings):
        watchers = []

        def inspector(store):
            if not watchers:
                watchers.append(open_watcher(settings))
            from_memory(watchers[0])
            return watchers[0]

        fold = lambda store, now: store.fold(now)  # noqa: E731
        subject = Subject(lambda: open_store(settings), inspector, fold)
        yield subject
        subject.close()


@pytest.mark.parametrize("folded", [False, True])
def test_an_older_command_at_the_place_of_what_it_moved_hides_no_content(settings, store, folded):
    """Commands were kept under the very coordinates of the message once."""
    store.commit(tick(0, commands=[put(A, 1, due=50), order(1, about=A, occurrence=0)]))
    store.commit(tick(1))
    if folded:
        store.fold(at(0))
    watcher = open_watcher(settings)
    from_memory(watcher)
    watcher._plain = None  # whoever falls back to the files fails
    found = {row["kind"]: row["payload"] for row in watcher.versions(A).to_pylist()}
    assert found == {"message": b"payload of a at 1", "command": None}


def test_what_was_loaded_goes_on_answering_while_the_next_fold_is_loaded(settings, store):
    loads, go_on = [], threading.Event()

    def slowly(tables):
        loads.append(1)
        if len(loads) > 1:
            assert go_on.wait(60)
        return make_base(tables)

    tables = tables_of(settings.delta)
    watcher = DeltaWatcher(tables, Watch(tables, slowly))
    store.commit(tick(0, commands=[put(A, 0, due=5)]))
    first = from_memory(watcher).base
    store.commit(tick(1, commands=[put(B, 1, due=6)]))
    store.fold(at(0))
    assert names(watcher.rows(Filter())) == [(A, 0), (B, 1)]
    store.commit(tick(2, commands=[cancel(A, 2)], until=7))
    watcher._plain = None  # whoever falls back to the files fails
    assert names(watcher.rows(Filter(statuses=LIVE))) == [(B, 1)]
    assert watcher._watch.current().base is first
    go_on.set()
    assert from_memory(watcher).base is not first
    assert names(watcher.rows(Filter(statuses=LIVE))) == [(B, 1)]


def test_a_watcher_that_slept_through_a_fold_misses_nothing(settings, store):
    watcher = open_watcher(settings)
    store.commit(tick(0, commands=[put(A, 0, due=5)]))
    from_memory(watcher)
    for batch in range(1, 5):
        store.commit(tick(batch, commands=[put(b"%d" % batch, batch, due=5 + batch)]))
    store.fold(at(0))
    assert watcher.rows(Filter()).num_rows == 5
    from_memory(watcher)
    assert watcher.rows(Filter()).num_rows == 5


def test_another_state_at_the_same_place_is_seen(settings, store, monkeypatch):
    watcher = open_watcher(settings)
    store.commit(tick(0, commands=[put(A, 0, due=5)]))
    from_memory(watcher)
    shutil.rmtree(settings.delta.path)
    other = open_store(settings)
    other.commit(tick(0, commands=[put(B, 0, due=5)]))
    monkeypatch.setattr("state.delta.watch._OPEN_ANEW", 0.0)
    assert names(watcher.rows(Filter())) == [(B, 0)]
    from_memory(watcher)
    assert names(watcher.rows(Filter())) == [(B, 0)]
    other.close()


def test_more_rows_than_memory_is_meant_for_are_read_from_the_files(settings, store):
    tables = tables_of(settings.delta)
    watcher = DeltaWatcher(tables, Watch(tables, partial(make_base, most=2)))
    store.commit(tick(0, commands=[put(b"%d" % i, i, due=5 + i) for i in range(5)]))
    store.commit(tick(1))
    store.fold(at(0))
    store.commit(tick(2, commands=[put(A, 7, due=1)]))
    store.fold(at(0))
    watcher.wait()
    assert watcher._watch.current() is None
    assert watcher.rows(Filter()).num_rows == 6
    assert watcher.stats(at(0)).ledger.ends[Status.PENDING] == 6


def test_of_many_closed_rows_the_newest_are_in_memory(settings, store):
    """Older ones are read from the files, where a list or a question goes back that far."""
    keys = [b"%02d" % i for i in range(8)]
    store.commit(tick(0, commands=[put(key, i, due=1 + i) for i, key in enumerate(keys)], until=50))
    for i, key in enumerate(keys):
        ended = outcome(key, i, "done", **receipt())
        store.commit(tick(1 + 2 * i, now=10 + i, outcomes=[ended]))
        store.commit(tick(2 + 2 * i, now=10 + i, commands=[put(b"x%d" % i, 10 + i, due=99)]))
        store.fold(at(10 + i))
    tables = tables_of(settings.delta)
    few = DeltaWatcher(tables, Watch(tables, partial(make_base, most_closed=4)))
    since, plain = from_memory(few).base.since, open_inspector(settings)
    assert at(10) < since < at(17)
    done = Filter(statuses=[Status.DONE], order=Order.LAST_CHANGED)
    for size in (2, 8, 20):
        assert page(few, done, size).rows == page(plain, done, size).rows
    assert few.versions(keys[0]) == plain.versions(keys[0])
    assert few.tally(done, []) == plain.tally(done, [])
    few._plain = None
    assert page(few, done, size=2).rows.column("key").to_pylist() == ["07", "06"]
    recent = Filter(statuses=[Status.DONE], changed_from=since + 1)
    assert 0 < few.tally(recent, []).column("count").to_pylist()[0] < 8


def test_many_threads_ask_while_a_job_commits(settings, store):
    watcher = open_watcher(settings)
    store.commit(tick(0, commands=[put(A, 0, due=5)]))
    from_memory(watcher)
    done = threading.Event()

    def look():
        seen = []
        while not done.is_set():
            stats, rows = watcher.stats(at(0)), watcher.rows(Filter(statuses=LIVE))
            assert stats.ledger.difference == 0
            assert rows.num_rows >= stats.ledger.ends[Status.PENDING]
            seen.append(rows.num_rows)
        return seen

    with ThreadPoolExecutor(4) as pool:
        looks = [pool.submit(look) for _ in range(4)]
        try:
            for batch in range(1, 30):
                store.commit(tick(batch, commands=[put(b"%d" % batch, batch, due=9)]))
                if batch % 10 == 0:
                    store.fold(at(0))
        finally:
            done.set()
        for each in looks:
            seen = each.result(60)
            assert seen == sorted(seen)
    assert watcher.rows(Filter(statuses=LIVE)).num_rows == 30
