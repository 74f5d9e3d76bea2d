"""The Delta store, written by delta-rs, keeps every promise."""

import pytest
from conformance import Conformance
from subject import Subject

from state.open import open_inspector, open_store
from state.settings import DeltaSettings, StateSettings


class TestDeltaStore(Conformance):
    @pytest.fixture
    def subject(self, tmp_path):
        settings = StateSettings(delta=DeltaSettings(path=str(tmp_path / "state")))
        subject = Subject(
            lambda: open_store(settings),
            lambda store: open_inspector(settings),
            lambda store, now: store.fold(now),
        )
        yield subject
        subject.close()
