"""The Delta store, written by delta-rs, keeps every promise."""

import os
import resource

import pytest
from build import names, put, tick
from conformance import Conformance
from subject import Subject

from state.errors import StateError
from state.open import open_inspector, open_store
from state.settings import DeltaSettings, StateSettings


@pytest.fixture
def settings(tmp_path):
    return StateSettings(delta=DeltaSettings(path=str(tmp_path / "state")))


class TestDeltaStore(Conformance):
    @pytest.fixture
    def subject(self, settings):
        subject = Subject(
            lambda: open_store(settings),
            lambda store: open_inspector(settings),
            lambda store, now: store.fold(now),
        )
        yield subject
        subject.close()


def test_a_disk_that_takes_no_more_is_told_in_a_sentence_and_nothing_is_lost(settings):
    store = open_store(settings)
    store.commit(tick(0, commands=[put(b"a", 0, due=1)]))
    large = [put(b"b", 1, due=1, payload=os.urandom(100_000))]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))  # larger files cannot be written
    try:
        with pytest.raises(StateError, match=r"state\.delta\.path .* cannot be written .* nothing"):
            store.commit(tick(1, commands=large))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert store.last_batch == 0
    store.close()
    again = open_store(settings)
    assert names(again.commit(tick(1, commands=large, until=5))) == [(b"a", 0), (b"b", 1)]
    again.close()
