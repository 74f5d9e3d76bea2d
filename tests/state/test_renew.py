"""A job that opens its state while the one before it ends sees what that one did last."""

import pytest
from build import at, names, outcome, put, receipt, settled, tick

from state.errors import StateError
from state.settings import DeltaSettings, MongoSettings, StateSettings

A, B = b"a", b"b"


@pytest.fixture(params=["delta", "mongo"])
def settings(request, tmp_path):
    if request.param == "delta":
        return StateSettings(delta=DeltaSettings(path=str(tmp_path / "state")))
    uri, database = (request.getfixturevalue(name) for name in ("mongo", "database"))
    return StateSettings(kind="mongo", mongo=MongoSettings(uri=uri.uri, database=database))


def test_claims_that_the_job_before_put_back_are_not_claimed_any_more(opened):
    before = opened()
    assert names(before.commit(tick(0, commands=[put(A, 1, due=1)], until=2))) == [(A, 1)]
    store = opened()
    before.settle(settled(outcome(A, 1, "pending", due=1)), at(0.5))
    store.renew()
    assert names(store.unsettled()) == []
    assert names(store.commit(tick(1, 3, until=5))) == [(A, 1)]


def test_batches_of_the_job_before_are_known(opened):
    before = opened()
    before.commit(tick(0, commands=[put(A, 1, due=1)], until=2))
    store = opened()
    before.commit(tick(1, 2, [put(B, 2, due=2)], [outcome(A, 1, "done", **receipt())], until=4))
    store.renew()
    assert store.last_batch == 1
    assert names(store.unsettled()) == [(B, 2)]


def test_what_nobody_has_written_to_stays_as_it_is(opened):
    store = opened()
    assert names(store.commit(tick(0, commands=[put(A, 1, due=1)], until=2))) == [(A, 1)]
    store.renew()
    assert names(store.unsettled()) == [(A, 1)]
    store.commit(tick(1, 3, outcomes=[outcome(A, 1, "done", **receipt())], until=5))
    assert names(store.unsettled()) == []


def test_without_it_another_writer_is_found_at_the_first_commit(opened):
    before, store = opened(), opened()
    before.commit(tick(0, commands=[put(A, 1, due=1)], until=2))
    with pytest.raises(StateError, match="another job writes the state"):
        store.commit(tick(0, commands=[put(B, 2, due=1)], until=2))
