"""What tests of states share: one in each kind of store, and how it is opened."""

import pytest
from copies import in_delta, many

from state.open import open_store
from state.settings import MongoSettings, StateSettings


@pytest.fixture
def opened(settings):
    """Open the state of a module's ``settings``, as often as asked; all are closed."""
    stores = []

    def open_one():
        stores.append(open_store(settings))
        return stores[-1]

    yield open_one
    for store in stores:
        store.close()


@pytest.fixture
def delta(tmp_path):
    return in_delta(tmp_path / "first")


@pytest.fixture
def mongo_state(mongo, database):
    return StateSettings(kind="mongo", mongo=MongoSettings(uri=mongo.uri, database=database))


@pytest.fixture
def mongo_store(mongo_state):
    opened = open_store(mongo_state)
    yield opened
    opened.close()


@pytest.fixture(params=["to mongo", "to delta"])
def sides(request, delta, mongo_state):
    there, here = (delta, mongo_state) if request.param == "to mongo" else (mongo_state, delta)
    many(there)
    return there, here
