"""However often a state moves between the stores, it gives the answers of the one in memory."""

import tempfile
import uuid
from pathlib import Path

import hypothesis.strategies as st
from build import at
from hypothesis.stateful import initialize, rule
from pymongo import MongoClient
from test_stores_agree import Stores, explore

from state.copying import copy, figures
from state.open import open_inspector, open_source, open_store, open_target
from state.settings import DeltaSettings, MongoSettings, StateSettings


class Moving(Stores):
    """Tells the same to a store in memory and to one that is copied now and then."""

    uri = ""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.databases = []

    @initialize(kind=st.sampled_from(["delta", "mongo"]))
    def open(self, kind):
        self._open(self._place(kind))

    @rule()
    def move(self):
        self.store.close()
        here = self._place("mongo" if self.settings.kind == "delta" else "delta")
        source, target = open_source(self.settings), open_target(here, at(self.now))
        target.part_rows = 3
        copy(source, target, at(self.now), lambda done, total: None)
        after = open_source(here)
        assert all(figure.source == figure.target for figure in figures(source, after))
        for each in (source, target, after):
            each.close()
        self.settings = here
        self.store, self.inspector = open_store(here), open_inspector(here)

    def teardown(self):
        super().teardown()
        self.folder.cleanup()
        with MongoClient(self.uri) as client:
            for name in self.databases:
                client.drop_database(name)

    def _place(self, kind):
        name = f"moving-{uuid.uuid4().hex[:12]}"
        if kind == "delta":
            return StateSettings(delta=DeltaSettings(path=str(Path(self.folder.name) / name)))
        self.databases.append(name)
        return StateSettings(kind="mongo", mongo=MongoSettings(uri=self.uri, database=name))


def test_a_state_that_moves_agrees(mongo, monkeypatch):
    monkeypatch.setattr(Moving, "uri", mongo.uri)
    explore(Moving)
