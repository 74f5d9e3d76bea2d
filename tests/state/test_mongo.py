"""The MongoDB store keeps every promise, on a real server."""

import pytest
from conformance import Conformance
from subject import Subject

from state.open import open_inspector, open_store
from state.settings import MongoSettings, StateSettings


@pytest.fixture
def settings(mongo, database):
    return StateSettings(kind="mongo", mongo=MongoSettings(uri=mongo.uri, database=database))


class TestMongoStore(Conformance):
    @pytest.fixture
    def subject(self, settings):
        subject = Subject(lambda: open_store(settings), lambda store: open_inspector(settings))
        yield subject
        subject.close()
