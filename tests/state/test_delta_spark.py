"""The Delta store, written by Spark, keeps every promise."""

import pytest
from build import put, tick
from conformance import Conformance
from subject import Subject

from state.errors import StateError
from state.open import open_inspector, open_store
from state.settings import DeltaSettings, StateSettings


@pytest.fixture
def settings(tmp_path):
    return StateSettings(delta=DeltaSettings(path=str(tmp_path / "state"), writer="spark"))


class TestDeltaStoreWrittenBySpark(Conformance):
    @pytest.fixture
    def subject(self, settings, spark):
        # Tables made natively: Spark takes seconds to make them, and one test below is enough.
        made = settings.delta.model_copy(update={"writer": "native"})
        open_store(settings.model_copy(update={"delta": made})).close()
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


def test_spark_makes_the_tables_of_a_new_state(settings, spark):
    store = open_store(settings, spark)
    store.commit(tick(0, commands=[put(b"a", 0, due=1)]))
    assert store.last_batch == 0
    assert open_inspector(settings).stats(0).ledger.accepted == 1
    store.close()


def test_the_spark_writer_needs_a_session(settings):
    with pytest.raises(StateError, match=r"state\.delta\.writer is spark"):
        open_store(settings)
