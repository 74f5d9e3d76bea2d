"""The Delta store, written by Spark, keeps every promise that could hang on who writes.

Whoever writes, a tick is worked out by DeltaStore and a fold by state.delta.fold. They know the
writer as the two protocols of state/delta/writer.py and read the tables with delta-rs, so every
promise is kept by all writers that leave the same tables. test_delta_native.py runs them all. Here:
in every situation that a state knows Spark leaves the tables that delta-rs leaves; and through
Spark itself the promises about numbers of batches and about content, and the fence.
"""

import pytest
from build import at, put, tick
from promises_answers import Answers
from promises_batches import Batches
from situations import STEPS, go_on, live
from subject import Subject

from state.delta.layout import STATE_ID_PROPERTY, TABLES
from state.delta.store import DeltaStore
from state.delta.tables import tables_of
from state.errors import StateError
from state.memory import MemoryStore
from state.open import open_inspector, open_store
from state.settings import DAY, DeltaSettings, StateSettings


@pytest.fixture
def settings(tmp_path):
    return StateSettings(delta=DeltaSettings(path=str(tmp_path / "state"), writer="spark"))


def natively(settings, path=None):
    """The same settings for the other writer."""
    changes = {"writer": "native", "path": path or settings.delta.path}
    return settings.model_copy(update={"delta": settings.delta.model_copy(update=changes)})


class TestDeltaStoreWrittenBySpark(Batches, Answers):
    @pytest.fixture
    def subject(self, settings, spark):
        # Tables made natively: Spark takes seconds to make them, and one test below is enough.
        open_store(natively(settings)).close()
        subject = Subject(
            lambda: open_store(settings, spark),
            lambda store: open_inspector(settings),
            lambda store, now: store.fold(now),
        )
        yield subject
        subject.close()

    @pytest.fixture
    def disturb(self, subject):
        """A commit of Spark's takes a second, so each test runs once: folded, then reopened."""
        folds = iter([subject.fold])

        def between_steps() -> None:
            next(folds, lambda: None)()
            subject.reopen()

        return between_steps

    def test_a_second_job_on_the_same_state_is_refused(self, subject, settings, spark):
        subject.commit(0, commands=[put(b"a", 0, due=1)])
        other = open_store(settings, spark)
        subject.commit(1, commands=[put(b"b", 1, due=1)])
        with pytest.raises(StateError, match="another job writes the state"):
            other.commit(tick(1, commands=[put(b"c", 2, due=1)]))


class Folding:
    """A store that is folded after every other commit, so that folds meet every situation."""

    def __init__(self, store):
        self._store = store
        self._commits = 0

    @property
    def last_batch(self):
        return self._store.last_batch

    def commit(self, said):
        claims = self._store.commit(said)
        self._fold(said.now)
        return claims

    def settle(self, outcomes, now):
        self._store.settle(outcomes, now)
        self._fold(now)

    def _fold(self, now):
        self._commits += 1
        if self._commits % 2 == 0:
            self._store.fold(now)


def content(settings):
    """Return all that is in the tables of a state: their columns, and their rows in any order."""
    found = {}
    for layout in TABLES:
        table = tables_of(settings.delta).open(layout)
        rows = table.to_pyarrow_table()
        columns = sorted((field.name, str(field.type)) for field in rows.schema)
        lines = [sorted(row.items()) for row in rows.to_pylist()]
        found[layout.name] = (columns, table.metadata().partition_columns, sorted(lines, key=repr))
    return found


def tidied(store, seconds):
    """Fold, drop what is kept no longer, join files and drop those that nobody needs."""
    store._upkeep._runner.run(at(seconds), tidy=True)


def two(settings, spark, tmp_path):
    """Return the settings of another state, and a store for either: by Spark, by delta-rs."""
    other = natively(settings, str(tmp_path / "other"))
    stores = open_store(settings, spark), open_store(other)
    assert {type(store) for store in stores} == {DeltaStore}
    return other, stores


def test_spark_leaves_the_tables_that_delta_rs_leaves(settings, spark, tmp_path):
    other, stores = two(settings, spark, tmp_path)
    memory = MemoryStore(10_000 * DAY)
    live(memory, *stores)
    go_on(STEPS, memory, *stores)
    assert content(settings) == content(other)
    for store in stores:
        store.close()


def test_spark_folds_and_tidies_as_delta_rs_does(settings, spark, tmp_path):
    other, stores = two(settings, spark, tmp_path)
    folding = [Folding(store) for store in stores]
    memory = MemoryStore(10_000 * DAY)
    live(memory, *folding)
    assert content(settings) == content(other)
    go_on(STEPS, memory, *folding)
    assert content(settings) == content(other)
    for store in stores:
        tidied(store, 4_000_000)
    assert content(settings) == content(other)
    for store in stores:
        tidied(store, 400_000_000)  # by then nothing that is closed is kept
    left = content(settings)
    assert left == content(other)
    assert left["schedules"][2]
    assert not left["history"][2]
    for store in stores:
        store.close()


def test_spark_makes_the_tables_that_delta_rs_makes(settings, spark, tmp_path):
    other = natively(settings, str(tmp_path / "other"))
    open_store(other).close()
    store = open_store(settings, spark)
    assert content(settings) == content(other)
    for layout in TABLES:
        made, wanted = (
            tables_of(each.delta).open(layout).metadata().configuration
            for each in (settings, other)
        )
        assert wanted.items() - made.items() == {(STATE_ID_PROPERTY, wanted[STATE_ID_PROPERTY])}
    store.commit(tick(0, commands=[put(b"a", 0, due=1)]))
    assert store.last_batch == 0
    assert open_inspector(settings).stats(0).ledger.accepted == 1
    store.close()


def test_the_spark_writer_needs_a_session(settings):
    with pytest.raises(StateError, match=r"state\.delta\.writer is spark"):
        open_store(settings)
