"""What tests of copies share: a state in each kind of store."""

import pytest
from copies import in_delta, many

from state.settings import MongoSettings, StateSettings


@pytest.fixture
def delta(tmp_path):
    return in_delta(tmp_path / "first")


@pytest.fixture
def mongo_state(mongo, database):
    return StateSettings(kind="mongo", mongo=MongoSettings(uri=mongo.uri, database=database))


@pytest.fixture(params=["to mongo", "to delta"])
def sides(request, delta, mongo_state):
    there, here = (delta, mongo_state) if request.param == "to mongo" else (mongo_state, delta)
    many(there)
    return there, here
