"""The same state on each store, made once."""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from making import Made, Maker
from pymongo import MongoClient
from showing import Run, run_in

from state.memory import MemoryStore
from state.open import open_inspector, open_store
from state.settings import DAY, StateSettings


@pytest.fixture(scope="session")
def on_delta(tmp_path_factory: pytest.TempPathFactory) -> Made:
    path = str(tmp_path_factory.mktemp("looked") / "state")
    settings = StateSettings.model_validate({"delta": {"path": path}})
    store = open_store(settings)
    maker = Maker(store)
    maker.make()
    store.fold(maker.now)
    maker.tick(0)
    store.close()
    named = {"DUESTREAM_STATE__DELTA__PATH": path}
    return Made("delta", maker, open_inspector(settings), named)


@pytest.fixture(scope="session")
def on_mongo(mongo: Any) -> Iterator[Made]:
    name = f"looked_{os.getpid()}"
    block = {"uri": mongo.uri, "database": name}
    settings = StateSettings.model_validate({"kind": "mongo", "mongo": block})
    store = open_store(settings)
    maker = Maker(store)
    maker.make()
    store.close()
    named = {"DUESTREAM_STATE__KIND": "mongo", "DUESTREAM_STATE__MONGO__URI": mongo.uri}
    named["DUESTREAM_STATE__MONGO__DATABASE"] = name
    yield Made("mongo", maker, open_inspector(settings), named)
    client: MongoClient[dict[str, Any]]
    with MongoClient(mongo.uri) as client:
        client.drop_database(name)


@pytest.fixture(scope="session")
def in_memory() -> Made:
    store = MemoryStore(7 * DAY)
    maker = Maker(store)
    maker.make()
    return Made("memory", maker, store, {})


@pytest.fixture(params=["delta", "mongo", "memory"])
def made(request: pytest.FixtureRequest) -> Made:
    names = {"delta": "on_delta", "mongo": "on_mongo", "memory": "in_memory"}
    found: Made = request.getfixturevalue(names[request.param])
    return found


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a notebook in a folder of its own."""
    return partial(run_in, tmp_path)
