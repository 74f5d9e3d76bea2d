"""The index of keys makes things quick, and is never needed for an answer to be right."""

import shutil
from collections import Counter

import pytest
from build import at, identity_of, put, tick

from state.delta import keys as keys_module
from state.delta.key_index import folder_of, make_index, newest_file
from state.delta.key_part import KeyPart
from state.delta.layout import MARK_BUCKET, SCHEDULES
from state.delta.tables import Tables, tables_of
from state.settings import DeltaSettings, StateSettings

MANY = [b"%d" % n for n in range(300)]


@pytest.fixture
def settings(tmp_path):
    return StateSettings(delta=DeltaSettings(path=str(tmp_path / "state")))


@pytest.fixture
def tables(settings):
    return tables_of(settings.delta)


@pytest.fixture
def store(opened):
    store = opened()
    store.commit(tick(0, commands=[put(k, n, due=1000 + n) for n, k in enumerate(MANY)]))
    store.commit(tick(1, commands=[put(b"x", 1000, due=5)]))
    return store


def offsets(store, *keys):
    rows = store.pending([identity_of(key) for key in keys], whole=False).to_pylist()
    return sorted(row["source_offset"] for row in rows)


@pytest.fixture
def scans(monkeypatch):
    made = []
    scan = keys_module.Keys._scan

    def counted(self, *args):
        made.append(args)
        return scan(self, *args)

    monkeypatch.setattr(keys_module.Keys, "_scan", counted)
    return made


def test_a_state_that_nobody_asks_for_keys_has_no_index(store, tables):
    store.fold(at(0))
    assert not folder_of(tables).exists()


def test_after_the_first_question_the_index_answers(store, tables, scans):
    store.fold(at(0))
    assert offsets(store, *MANY[:5], b"nobody") == [0, 1, 2, 3, 4]
    assert len(scans) == 1
    store._keys.wait()
    assert offsets(store, *MANY[:5], b"nobody") == [0, 1, 2, 3, 4]
    assert offsets(store, *MANY) == list(range(300))
    assert len(scans) == 1


def test_every_fold_makes_the_index_anew(store, tables, scans):
    assert offsets(store, MANY[7]) == [7]
    store._keys.wait()
    for batch in (2, 3, 4):
        store.commit(tick(batch, commands=[put(b"new", 1000 + batch, due=9_000)]))
        store.fold(at(0))
        assert offsets(store, MANY[7], b"new") == [7, 1000 + batch]
    assert len(scans) == 1
    files = [uri for uri in tables.open(SCHEDULES).file_uris() if MARK_BUCKET not in uri]
    assert len(files) > 1
    kinds = Counter(path.suffix for path in folder_of(tables).iterdir())
    assert kinds == {".json": 1, ".arrow": len(files)}


def test_an_index_of_another_table_is_not_believed(store, tables, opened, scans):
    store.fold(at(0))
    offsets(store, MANY[0])
    store._keys.wait()
    store.close()
    stale = newest_file(folder_of(tables)).read_bytes()
    again = opened()
    again.commit(tick(2, commands=[put(MANY[0], 2000, due=9_000)]))
    again.commit(tick(3, commands=[put(b"x", 2001, due=9_000)]))
    again.fold(at(0))
    again.close()
    newest_file(folder_of(tables)).write_bytes(stale)  # as a restored backup may leave it
    third = opened()
    assert offsets(third, MANY[0]) == [2000]
    assert len(scans) == 2
    third._keys.wait()
    assert offsets(third, MANY[0]) == [2000]
    assert len(scans) == 2


@pytest.mark.parametrize("harm", ["gone", "cut short", "nonsense"])
def test_without_a_good_index_the_answers_are_the_same(store, tables, opened, harm):
    store.fold(at(0))
    offsets(store, MANY[0])
    store._keys.wait()
    store.close()
    path = newest_file(folder_of(tables))
    if harm == "gone":
        shutil.rmtree(path.parent)
    else:
        path.write_bytes(path.read_bytes()[:500] if harm == "cut short" else b"nonsense")
    again = opened()
    assert offsets(again, *MANY[:3]) == [0, 1, 2]
    again._keys.wait()
    assert offsets(again, *MANY[:3]) == [0, 1, 2]


def test_an_index_that_cannot_be_written_is_done_without(store, tables, caplog):
    store.fold(at(0))
    folder_of(tables).write_text("in the way")
    for _ in range(3):
        assert offsets(store, *MANY[:3]) == [0, 1, 2]
        store._keys.wait()
    assert caplog.text.count("no index of keys could be made") == 1


def test_what_a_fold_moves_while_a_key_is_asked_for_is_found(store, tables, monkeypatch):
    offsets(store, MANY[0])
    fold, read = store.fold, keys_module.Keys._from_changelog

    def folded_first(self, rows):
        fold(at(0))
        return read(self, rows)

    monkeypatch.setattr(keys_module.Keys, "_from_changelog", folded_first)
    [row] = store.pending([identity_of(MANY[9])], whole=True).to_pylist()
    assert row["payload"] == b"payload of 9 at 9"


def test_the_index_of_a_state_elsewhere_is_kept_on_this_machine(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folders = {folder_of(Tables(path)) for path in ("s3://bucket/a", "s3://bucket/b")}
    assert len(folders) == 2
    assert {folder.parent for folder in folders} == {tmp_path / "duestream"}


def test_an_index_of_an_empty_state_finds_nothing(opened, tables):
    store = opened()
    make_index(tables)
    assert offsets(store, *MANY) == []


def test_a_part_that_was_made_for_another_file_is_made_again(store, tables):
    """A part is found by its name alone, so it says itself whose it is."""
    store.fold(at(0))
    make_index(tables)
    folder = folder_of(tables)
    part = next(path for path in folder.iterdir() if path.suffix == ".arrow")
    other = part.with_name("other.arrow")
    part.rename(other)
    with pytest.raises(ValueError, match="another file"):
        KeyPart(other.rename(part.with_name("wrong.arrow")))
    make_index(tables)
    assert KeyPart(part)
    assert offsets(store, MANY[7]) == [7]
