"""A state that cannot be opened says so in one sentence, with the way out."""

import subprocess
import sys

import pyarrow as pa
import pytest
from build import put, tick
from deltalake import DeltaTable, write_deltalake

from state.delta.layout import LAYOUT, SCHEDULES, properties
from state.delta.native import create_tables
from state.delta.tables import Tables
from state.errors import StateError
from state.memory import MemoryStore
from state.open import open_inspector, open_store
from state.settings import DeltaSettings, StateSettings


def settings_at(path):
    return StateSettings(delta=DeltaSettings(path=str(path)))


def test_the_kind_memory_needs_no_path():
    store = open_store(StateSettings(kind="memory"))
    assert isinstance(store, MemoryStore)


def test_a_state_in_memory_cannot_be_looked_into_from_outside():
    with pytest.raises(StateError, match=r"state\.kind is memory"):
        open_inspector(StateSettings(kind="memory"))


def test_a_path_is_needed():
    with pytest.raises(StateError, match=r"state\.delta\.path is not set"):
        open_store(StateSettings())


def test_there_is_nothing_to_look_into_before_the_first_start(tmp_path):
    with pytest.raises(StateError, match=r"no state at .*yet; start the job with `duestream run`"):
        open_inspector(settings_at(tmp_path / "nowhere"))
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_with_other_things_in_it_is_refused(tmp_path):
    (tmp_path / "holiday.jpg").write_bytes(b"")
    with pytest.raises(StateError, match=r"holds other things \(holiday\.jpg\)"):
        open_store(settings_at(tmp_path))


def test_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StateError, match="is a file; give a folder"):
        open_store(settings_at(tmp_path / "file"))


def test_delta_tables_of_somebody_else_are_refused(tmp_path):
    for name in ("changelog", "schedules", "history"):
        write_deltalake(str(tmp_path / name), pa.table({"x": [1]}))
    for open_it in (open_store, open_inspector):
        with pytest.raises(StateError, match="not a state of duestream"):
            open_it(settings_at(tmp_path))


def test_a_layout_of_another_version_is_refused(tmp_path):
    tables = Tables(str(tmp_path))
    create_tables(tables, "name", keep=0)
    for layout in ("changelog", "schedules", "history"):
        table = DeltaTable(str(tmp_path / layout))
        table.alter.set_table_properties({"duestream.layout": "99"}, raise_if_not_exists=False)
    with pytest.raises(StateError, match=f"has layout 99, this version reads layout {LAYOUT}"):
        open_store(settings_at(tmp_path))


def test_tables_of_two_states_are_refused(tmp_path):
    create_tables(Tables(str(tmp_path / "one")), "one", keep=0)
    create_tables(Tables(str(tmp_path / "two")), "two", keep=0)
    (tmp_path / "one" / "history").rename(tmp_path / "away")
    (tmp_path / "two" / "history").rename(tmp_path / "one" / "history")
    with pytest.raises(StateError, match="tables of different states"):
        open_store(settings_at(tmp_path / "one"))


def test_making_a_state_goes_on_where_it_was_cut_short(tmp_path):
    tables = Tables(str(tmp_path))
    DeltaTable.create(
        tables.uri(SCHEDULES),
        schema=SCHEDULES.schema,
        partition_by=[SCHEDULES.partition],
        configuration=properties(SCHEDULES, "the name", 0),
        raise_if_key_not_exists=False,
    )
    store = open_store(settings_at(tmp_path))
    assert store.state_id == "the name"
    assert store.commit(tick(0, commands=[put(b"a", 0, due=1)], until=2)).num_rows == 1


def test_looking_into_a_state_needs_no_spark(tmp_path):
    open_store(settings_at(tmp_path / "state")).close()
    code = (
        "import sys\n"
        "from state.open import open_inspector\n"
        "from state.settings import DeltaSettings, StateSettings\n"
        "delta = DeltaSettings(path=sys.argv[1])\n"
        "assert open_inspector(StateSettings(delta=delta)).stats(0).ledger.accepted == 0\n"
        "assert 'pyspark' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "state")], check=True)
