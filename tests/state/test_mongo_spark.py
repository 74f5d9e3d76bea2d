"""The MongoDB store, its bulk writes sent by Spark's executors, keeps its promises."""

import pytest
from build import at, names, outcome, put, receipt, tick

from state.errors import StateError
from state.open import open_inspector, open_store
from state.settings import MongoSettings, StateSettings


@pytest.fixture
def settings(mongo, database):
    mongo_settings = MongoSettings(uri=mongo.uri, database=database, writer="spark", batch_rows=7)
    return StateSettings(kind="mongo", mongo=mongo_settings)


def test_executors_write_what_the_driver_would(settings, spark):
    store = open_store(settings, spark)
    store.commit(tick(0, commands=[put(b"%d" % n, n, due=n) for n in range(60)]))
    assert len(store.commit(tick(1, until=29))) == 30
    ended = [outcome(b"%d" % n, n, "done", **receipt()) for n in range(20)]
    store.commit(tick(2, commands=[put(b"5", 60, due=50)], outcomes=ended, until=29))
    store.close()
    again = open_store(settings, spark)
    assert names(again.unsettled()) == [(b"%d" % n, n) for n in range(20, 30)]
    ledger = open_inspector(settings).stats(at(0)).ledger
    assert {s.value: n for s, n in ledger.ends.items() if n} == {
        "done": 20,
        "claimed": 10,
        "pending": 31,
    }
    again.close()


def test_without_a_session_it_is_refused_in_a_sentence(settings):
    with pytest.raises(StateError, match=r"state\.mongo\.writer is spark"):
        open_store(settings)
