"""A copy is refused where it would destroy something, or where there is nothing to copy."""

import pytest
from build import put, tick
from copies import NOW, copied, in_delta, many, told
from pymongo import MongoClient

from state.copying import copy
from state.errors import StateError
from state.open import open_inspector, open_source, open_store, open_target


def test_a_place_that_holds_a_state_is_refused(sides):
    there, here = sides
    store = open_store(here)
    name = store.state_id
    store.close()
    with pytest.raises(StateError, match=f"holds a state already .{name}.; .* set another state"):
        copied(there, here)
    assert told(here)[5] == name


def test_a_copy_is_not_copied_over(sides):
    there, here = sides
    copied(there, here)
    with pytest.raises(StateError, match="holds a state already"):
        copied(there, here)


def test_a_state_that_moves_while_it_is_copied_is_refused(sides):
    there, here = sides
    source, target = open_source(there), open_target(here, NOW)

    def told_once(done, total):
        if done == total:
            store = open_store(there)
            store.commit(tick(2, 2, [put(b"moving", 300, due=1)]))
            store.close()

    with pytest.raises(StateError, match="has changed while it was copied; stop the job"):
        copy(source, target, NOW, told_once)
    with pytest.raises(StateError, match="is not finished"):
        open_inspector(here)
    assert copied(there, here) == []


def test_nothing_is_there_to_be_copied(delta, mongo_state):
    with pytest.raises(StateError, match="no state at"):
        open_source(delta)
    with pytest.raises(StateError, match="no state in the database"):
        open_source(mongo_state)


def test_documents_of_somebody_else_are_not_touched(delta, mongo_state, mongo, database):
    many(delta)
    with MongoClient(mongo.uri) as client:
        client[database]["schedules"].insert_one({"_id": 1})
        with pytest.raises(StateError, match="holds documents that are no state"):
            copied(delta, mongo_state)
        assert client[database]["schedules"].count_documents({}) == 1


def test_files_of_somebody_else_are_not_touched(mongo_state, tmp_path):
    many(mongo_state)
    (tmp_path / "holiday.jpg").write_bytes(b"")
    with pytest.raises(StateError, match=r"holds other things \(holiday\.jpg\)"):
        copied(mongo_state, in_delta(tmp_path))
