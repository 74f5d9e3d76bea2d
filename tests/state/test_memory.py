"""The store in memory keeps every promise but that of outliving the process."""

import pytest
from build import at, outcome, put, receipt
from conformance import Conformance
from subject import Subject

from state.memory import MemoryStore
from state.settings import DAY


class TestMemoryStore(Conformance):
    @pytest.fixture
    def subject(self):
        return Subject(lambda: MemoryStore(DAY), lambda store: store, durable=False)

    @pytest.fixture
    def disturb(self):
        """Here a fold and a reopening do nothing, so each test runs once."""
        return lambda: None

    def test_closed_rows_are_forgotten_and_the_ledger_still_closes(self, subject):
        subject.commit(0, commands=[put(b"a", 0, due=1), put(b"b", 1, due=9)], until=1)
        subject.commit(1, now=2, outcomes=[outcome(b"a", 0, "done", **receipt())])
        subject.store.maintain(at(3))
        assert subject.rows().num_rows == 2
        subject.store.maintain(at(3) + DAY)
        assert subject.statuses() == {(b"b", 1): "pending"}
        assert subject.ends() == {"done": 1, "pending": 1}
        assert subject.stats().ledger.difference == 0
