"""A state copied to another store is the same state: nothing lost, nothing twice, told the same."""

import pytest
from build import at, names, put, tick
from copies import EVERYTHING, NOW, copied, in_delta, many, rows, told
from situations import FORGOTTEN, STEPS, go_on, live

from state.admission import versions_of
from state.copying import figures
from state.memory import MemoryStore
from state.open import open_inspector, open_source, open_store
from state.settings import DAY


@pytest.fixture
def lived(delta):
    """Return a store in memory that has lived as the one in Delta tables has."""
    memory, store = MemoryStore(10_000 * DAY), open_store(delta)
    live(memory, store)
    store.close()
    return memory


def folded(settings, now=12):
    store = open_store(settings)
    store.fold(at(now))
    store.close()


def all_agree(memory, settings, steps):
    """Tell both the same, which touches everything that was copied; compare all they answer."""
    store, inspector = open_store(settings), open_inspector(settings)
    go_on(steps, memory, store)
    assert rows(inspector.rows(EVERYTHING)) == rows(memory.rows(EVERYTHING))
    assert inspector.stats(NOW) == memory.stats(NOW)
    assert rows(store.unsettled()) == rows(memory.unsettled())
    store.close()


@pytest.mark.parametrize("fold", [False, True], ids=["unfolded", "folded"])
def test_there_and_back_again_it_is_the_same_state(delta, mongo_state, lived, tmp_path, fold):
    if fold:
        folded(delta)
    back = in_delta(tmp_path / "second")
    assert copied(delta, mongo_state) == []
    assert copied(mongo_state, back) == []
    first = told(delta)
    assert first[0] == rows(lived.rows(EVERYTHING))
    assert told(mongo_state) == first
    assert told(back) == first


@pytest.mark.parametrize("fold", [False, True], ids=["unfolded", "folded"])
def test_a_job_goes_on_in_mongodb_as_if_nothing_had_been(delta, mongo_state, lived, fold):
    if fold:
        folded(delta)
    copied(delta, mongo_state)
    all_agree(lived, mongo_state, STEPS if fold else [*FORGOTTEN, *STEPS])


@pytest.mark.parametrize("fold", [False, True], ids=["as it came", "folded first"])
def test_a_job_goes_on_in_delta_tables_as_if_nothing_had_been(mongo_state, tmp_path, fold):
    memory, store = MemoryStore(10_000 * DAY), open_store(mongo_state)
    live(memory, store)
    store.close()
    back = in_delta(tmp_path / "second")
    assert copied(mongo_state, back) == []
    if fold:
        folded(back)
    all_agree(memory, back, [*FORGOTTEN, *STEPS])


def test_what_was_copied_can_be_folded_and_copied_again(delta, mongo_state, lived, tmp_path):
    second = in_delta(tmp_path / "second")
    copied(delta, mongo_state)
    copied(mongo_state, second)
    store = open_store(second)
    store.commit(tick(7, 12, [put(b"one more", 21, due=900)]))
    store.fold(at(13))
    store.fold(at(14))
    lived.commit(tick(7, 12, [put(b"one more", 21, due=900)]))
    store.close()
    assert rows(open_inspector(second).rows(EVERYTHING)) == rows(lived.rows(EVERYTHING))
    assert open_inspector(second).stats(NOW) == lived.stats(NOW)


def test_a_new_state_can_be_copied(delta, mongo_state, tmp_path):
    store = open_store(delta)
    name = store.state_id
    store.close()
    back = in_delta(tmp_path / "second")
    assert copied(delta, mongo_state) == []
    assert copied(mongo_state, back) == []
    store = open_store(back)
    assert (store.state_id, store.last_batch, store.next_due()) == (name, -1, None)
    assert names(store.commit(tick(0, commands=[put(b"a", 0, due=1)], until=2))) == [(b"a", 0)]
    store.close()


def test_what_is_due_is_claimed_after_a_copy_though_nothing_new_comes(delta, mongo_state):
    store = open_store(delta)
    store.commit(tick(0, commands=[put(bytes([n]), n, due=5) for n in range(20)]))
    store.close()
    copied(delta, mongo_state)
    store = open_store(mongo_state)
    assert store.next_due() == at(5)
    assert len(names(store.commit(tick(1, 6, until=6)))) == 20
    store.close()


def test_a_last_commit_of_mongodb_that_is_not_carried_out_is_in_the_copy(mongo_state, tmp_path):
    store = open_store(mongo_state)
    store._send = lambda parts: 0  # as if the process died right after its commit
    store.commit(tick(0, commands=[put(b"a", 0, due=1), put(b"b", 1, due=9)], until=2))
    store.close()
    back = in_delta(tmp_path / "second")
    assert copied(mongo_state, back) == []
    store = open_store(back)
    assert names(store.unsettled()) == [(b"a", 0)]
    assert names(store.commit(tick(1, 10, until=10))) == [(b"b", 1)]
    store.close()


def test_rows_are_read_in_parts_of_bounded_size(sides):
    there, _ = sides
    source = open_source(there)
    parts = list(source.parts(0, 7))
    assert parts[-1].upto == source.total()
    assert all(part.rows.num_rows <= 7 for part in parts)
    whole = [v for part in parts for v in versions_of(part.rows)]
    rest = [v for part in source.parts(11, 7) for v in versions_of(part.rows)]
    assert whole[11:] == rest
    assert len(whole) == 90
    source.close()


def test_figures_that_differ_are_told(delta, tmp_path):
    many(delta)
    other = in_delta(tmp_path / "second")
    many(other, count=44)
    found = {f.name for f in figures(open_source(delta), open_source(other)) if f[1] != f[2]}
    assert {"accepted", "rows pending", "state"} <= found
