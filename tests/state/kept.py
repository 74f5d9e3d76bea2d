"""A state that outlives the job which keeps it: as an object, or in tables."""

import tempfile
import uuid
from pathlib import Path

from pymongo import MongoClient

from state.inspect import Filter
from state.memory import MemoryStore
from state.open import open_inspector, open_store
from state.settings import DAY, DeltaSettings, MongoSettings, StateSettings

YEARS = 10_000 * DAY


class InMemory:
    """A state that outlives the job as an object."""

    def __init__(self):
        self.inspector = self._store = MemoryStore(YEARS)

    def open(self):
        return self._store

    def rows(self, store):
        return self.inspector.rows(Filter()).to_pylist()

    def close(self, store):
        pass

    def settle_down(self, store):
        pass

    def fold(self, store, now):
        pass

    def remove(self):
        pass


class InDelta(InMemory):
    """A state in tables, opened again after each crash; nothing is folded but by a rule."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory()
        path = str(Path(self._folder.name) / "state")
        delta = DeltaSettings(path=path, fold_rows=10**9, fold_age="9000d", window="10s")
        self._settings = StateSettings(keep_closed="9000d", delta=delta)
        open_store(self._settings).close()
        self.inspector = open_inspector(self._settings)

    def open(self):
        return open_store(self._settings)

    def close(self, store):
        store.close()

    def settle_down(self, store):
        store._keeper.wait()

    def fold(self, store, now):
        store.fold(now)

    def remove(self):
        self._folder.cleanup()


class InMongo(InMemory):
    """A state in a database of its own, opened again after each crash."""

    uri = ""

    def __init__(self):
        self._name = f"model-{uuid.uuid4().hex[:12]}"
        mongo = MongoSettings(uri=self.uri, database=self._name)
        self._settings = StateSettings(kind="mongo", keep_closed="9000d", mongo=mongo)
        open_store(self._settings).close()
        self.inspector = open_inspector(self._settings)

    def open(self):
        return open_store(self._settings)

    def close(self, store):
        store.close()

    def remove(self):
        with MongoClient(self.uri) as client:
            client.drop_database(self._name)
