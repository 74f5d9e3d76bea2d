"""The near window never loses a row at its edges and never holds what is far away."""

import threading

import numpy as np
import pytest
from build import at, cancel, names, outcome, put, tick

from state.delta import window
from state.delta.load import load_window, window_end
from state.delta.native import NativeWriter
from state.delta.tables import tables_of
from state.errors import StateError
from state.open import open_store
from state.settings import MINUTE, DeltaSettings, StateSettings


def settings_at(path, **more):
    return StateSettings(delta=DeltaSettings(path=str(path / "state"), **more))


@pytest.fixture
def opened():
    stores = []

    def open_and_note(settings):
        stores.append(open_store(settings))
        return stores[-1]

    yield open_and_note
    for store in stores:
        store.close()


@pytest.mark.parametrize(
    ("dues", "most", "end"),
    [
        ([1, 2, 3], 3, 10),
        ([9, 1, 2], 2, 3),
        ([1, 2, 2, 2, 7], 2, 3),
        ([2, 2, 2, 5], 1, 3),
        ([], 1, 10),
    ],
)
def test_the_window_ends_after_as_many_rows_as_it_has_room_for_and_their_ties(dues, most, end):
    assert window_end(np.array(dues, dtype=np.int64), 10, most) == end


def test_rows_far_away_stay_out_of_memory(tmp_path, opened):
    store = opened(settings_at(tmp_path))
    far = [put(b"%d" % i, i, due=1_000_000 + i) for i in range(50_000)]
    store.commit(tick(0, commands=far))
    store.commit(tick(1, commands=[put(b"near", 50_000, due=5)]))
    assert len(store._keeper.window) == 1
    store.fold(at(0))
    store.close()
    store = opened(settings_at(tmp_path))
    assert len(store._keeper.window) == 1
    assert names(store.commit(tick(2, until=10))) == [(b"near", 50_000)]
    assert at(10) < store.next_due() <= at(1_000_000)


def test_rows_come_into_the_window_when_their_time_is_near(tmp_path, opened):
    store = opened(settings_at(tmp_path))
    dues = [10, 59.999999, 60, 60.000001, 119, 120, 500]
    store.commit(tick(0, commands=[put(b"%d" % i, i, due=due) for i, due in enumerate(dues)]))
    claimed = []
    for batch, now in enumerate(range(1, 600, 7), 1):
        store.maintain(at(now))
        claimed += [(offset, now) for _, offset in names(store.commit(tick(batch, now, until=now)))]
    assert [offset for offset, _ in claimed] == list(range(7))
    assert all(0 <= now - dues[offset] < 7 for offset, now in claimed)


@pytest.mark.parametrize("fold", [False, True])
def test_a_window_too_small_for_what_is_due_still_gives_all_of_it(tmp_path, opened, fold):
    store = opened(settings_at(tmp_path, window_rows=3))
    dues = [5, 1, 1, 1, 1, 1, 9, 2, 2, 8]
    store.commit(tick(0, commands=[put(b"%d" % i, i, due=due) for i, due in enumerate(dues)]))
    store.commit(tick(1, commands=[put(b"x", 50, due=1_000_000)]))
    if fold:
        store.fold(at(0))
        store.close()
        store = opened(settings_at(tmp_path, window_rows=3))
    claimed = []
    for batch in range(2, 10):
        store.maintain(at(20))
        claimed += [o for _, o in names(store.commit(tick(batch, 20, until=20, limit=2)))]
    assert claimed == [1, 2, 3, 4, 5, 7, 8, 0, 9, 6]


def test_what_is_committed_while_a_window_loads_is_in_it(tmp_path, opened):
    store = opened(settings_at(tmp_path))
    store.commit(tick(0, commands=[put(b"%d" % i, i, due=100 + i) for i in range(6)]))
    store.commit(tick(1, commands=[put(b"9", 6, due=1_000_000)], until=0))
    keeper = store._keeper
    keeper.look_ahead(at(50))
    keeper._thread.join()
    store_window = keeper._loaded.window
    assert len(store_window) == 6
    # The load has ended but nobody has taken it over yet: these commits are not in it.
    keeper._take_over, take_over = lambda: None, keeper._take_over
    store.commit(tick(2, 50, commands=[put(b"0", 10, due=101.5), cancel(b"1", 11)], until=20))
    store.commit(tick(3, 50, commands=[put(b"2", 12, due=1_000_000)], until=20))
    store.commit(tick(4, 50, commands=[put(b"new", 13, due=99)], until=20))
    store.commit(tick(5, 50, outcomes=[outcome(b"3", 3, "expired")], until=20))
    keeper._take_over = take_over
    claims = store.commit(tick(6, 55, until=109))
    assert keeper.window is store_window
    assert [o for _, o in names(claims)] == [13, 10, 4, 5]


def test_an_idle_tick_touches_no_disk(tmp_path, opened):
    store = opened(settings_at(tmp_path))
    store.commit(tick(0, commands=[put(b"a", 0, due=5)], until=0))
    (tmp_path / "state").rename(tmp_path / "away")
    for batch in range(1, 5):
        assert store.commit(tick(batch, batch, until=4)).num_rows == 0
    assert store.next_due() == at(5)
    (tmp_path / "away").rename(tmp_path / "state")


def test_a_second_job_on_the_same_state_is_refused(tmp_path, opened):
    first, second = opened(settings_at(tmp_path)), opened(settings_at(tmp_path))
    first.commit(tick(0, commands=[put(b"a", 0, due=5)]))
    with pytest.raises(StateError, match="another job writes the state"):
        second.commit(tick(0, commands=[put(b"b", 0, due=5)]))
    assert names(first.commit(tick(1, until=10))) == [(b"a", 0)]


def test_a_job_goes_on_after_the_changelog_was_trimmed_behind_it(tmp_path, opened):
    store = opened(settings_at(tmp_path))
    for batch in range(4):
        store.commit(tick(batch, commands=[put(b"%d" % batch, batch, due=5)]))
    store.fold(at(0))
    assert store.commit(tick(4, until=10)).num_rows == 4


class Failing:
    """A writer whose commit fails, before or after it has reached the disk."""

    def __init__(self, writer, after):
        self._writer, self._after = writer, after

    def append(self, lines, seq):
        if self._after:
            self._writer.append(lines, seq)
        raise OSError("the disk is gone")


@pytest.mark.parametrize("after", [False, True])
def test_a_commit_that_failed_may_be_tried_again(tmp_path, opened, after):
    store = opened(settings_at(tmp_path))
    store.commit(tick(0, commands=[put(b"a", 0, due=1), put(b"b", 1, due=2)]))
    said = tick(1, 1, commands=[put(b"c", 2, due=3), cancel(b"b", 3)], until=5)
    store._writer, writer = Failing(store._writer, after), store._writer
    with pytest.raises(OSError, match="the disk is gone"):
        store.commit(said)
    store._writer = NativeWriter(tables_of(settings_at(tmp_path).delta)) if after else writer
    assert names(store.commit(said)) == [(b"a", 0), (b"c", 2)]
    assert names(store.unsettled()) == [(b"a", 0), (b"c", 2)]
    assert store.commit(tick(2, 2, until=5)).num_rows == 0


def test_many_commits_with_checkpoints_between_are_all_there(tmp_path, opened):
    settings = settings_at(tmp_path, fold_rows=40)
    store = opened(settings)
    for batch in range(130):
        key = b"%d" % (batch % 7)
        store.commit(tick(batch, batch, commands=[put(key, batch, due=batch + 1)], until=batch))
        store.maintain(at(batch))
    store.close()
    tables = tables_of(settings.delta)
    loaded = load_window(tables, at(10_000), 1000).window
    assert len(loaded) == 1
    assert opened(settings).unsettled().num_rows == 129


def test_the_window_span_is_the_setting(tmp_path, opened):
    store = opened(settings_at(tmp_path, window="10m"))
    store.commit(tick(0, commands=[put(b"a", 0, due=599), put(b"b", 1, due=600)]))
    assert store._keeper.window.end == at(0) + 10 * MINUTE
    assert len(store._keeper.window) == 1


def test_other_threads_wait_while_a_commit_is_under_way(tmp_path, opened):
    store = opened(settings_at(tmp_path))
    writing, go_on, answers = threading.Event(), threading.Event(), []

    class Slow:
        def __init__(self, writer):
            self._writer = writer

        def append(self, lines, seq):
            writing.set()
            assert go_on.wait(60)
            self._writer.append(lines, seq)

    store._writer = Slow(store._writer)
    said = tick(0, commands=[put(b"a", 0, due=5)])
    commit = threading.Thread(target=lambda: store.commit(said))
    asking = threading.Thread(target=lambda: answers.append(store.next_due()))
    commit.start()
    assert writing.wait(60)
    asking.start()
    go_on.set()
    commit.join()
    asking.join()
    assert answers == [at(5)]
    assert names(store.commit(tick(1, until=10))) == [(b"a", 0)]


def test_a_claim_is_bounded_by_its_bytes_and_the_rest_comes_next(tmp_path, opened, monkeypatch):
    """A column of Arrow holds two gigabytes: a claim of more than that would fail each time."""
    monkeypatch.setattr(window, "MOST_BYTES", 250)
    store = opened(settings_at(tmp_path))
    large = [put(b"%d" % n, n, due=9 - n, payload=b"x" * 100) for n in range(5)]
    claims = [names(store.commit(tick(0, commands=large, until=10)))]
    claims += [names(store.commit(tick(batch, until=10))) for batch in (1, 2, 3)]
    assert claims == [[(b"4", 4), (b"3", 3)], [(b"2", 2), (b"1", 1)], [(b"0", 0)], []]


def test_one_message_larger_than_the_bound_is_claimed_all_the_same(tmp_path, opened, monkeypatch):
    monkeypatch.setattr(window, "MOST_BYTES", 50)
    store = opened(settings_at(tmp_path))
    assert store.commit(tick(0, commands=[put(b"a", 0, due=1, payload=b"x" * 100)], until=5))
