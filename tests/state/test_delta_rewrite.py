"""A fold writes the files anew that hold what changed, in one commit, and no others."""

import pyarrow.compute as pc
import pytest
from build import at, cancel, put, tick
from deltalake.exceptions import CommitFailedError

from state.delta import bucket_file, rewrite
from state.delta.few import read_few
from state.delta.fold import fold
from state.delta.layout import SCHEDULES
from state.delta.native import NativeFoldWriter
from state.delta.tables import read, tables_of
from state.inspect import Filter
from state.open import open_inspector, open_store
from state.row import DUE, IDENTITY
from state.settings import DeltaSettings, StateSettings

DAYS = 86_400
KEYS = [b"%03d" % n for n in range(100)]


@pytest.fixture
def settings(tmp_path):
    return StateSettings(delta=DeltaSettings(path=str(tmp_path / "state")))


@pytest.fixture
def tables(settings):
    return tables_of(settings.delta)


@pytest.fixture
def store(settings):
    """Hold a hundred schedules, due on ten days, folded; only the last commit is not."""
    store = open_store(settings)
    ahead = [put(k, n, due=(5 + n // 10) * DAYS + n) for n, k in enumerate(KEYS)]
    store.commit(tick(0, commands=ahead))
    store.commit(tick(1, commands=[put(b"x", 200, due=1_000)]))
    store.fold(at(0))
    yield store
    store.close()


def change_one_day(store):
    changed = [cancel(KEYS[31], 301), put(KEYS[35], 302, due=8 * DAYS + 1)]
    store.commit(tick(2, commands=changed))
    store.commit(tick(3, commands=[put(b"x", 303, due=1_000)]))


def everything(settings):
    rows = open_inspector(settings).rows(Filter(kind=None)).to_pylist()
    return sorted(rows, key=lambda row: row["source_offset"])


def files(tables):
    return {uri.rsplit("/", 2)[-2]: uri for uri in tables.open(SCHEDULES).file_uris()}


def test_a_fold_leaves_files_alone_that_hold_nothing_of_what_changed(store, settings, tables):
    before = files(tables)
    assert len(before) == 11  # ten days and the mark
    change_one_day(store)
    known = everything(settings)
    store.fold(at(0))
    after = files(tables)
    anew = {bucket for bucket in before if after[bucket] != before[bucket]}
    assert anew == {"bucket=mark", "bucket=2027-01-23"}
    assert everything(settings) == known


def test_of_two_folds_at_once_one_is_refused(store, settings, tables, monkeypatch):
    change_one_day(store)
    known = everything(settings)
    find = rewrite._touched

    def another_first(*args):
        monkeypatch.setattr(rewrite, "_touched", find)
        found = find(*args)
        fold(tables, NativeFoldWriter(tables), at(0))
        return found

    monkeypatch.setattr(rewrite, "_touched", another_first)
    with pytest.raises(CommitFailedError):
        fold(tables, NativeFoldWriter(tables), at(0))
    assert everything(settings) == known


def test_a_fold_during_which_files_were_joined_is_refused_and_comes_again(
    store, settings, tables, monkeypatch
):
    """Whoever looks after tables runs OPTIMIZE; its new file holds rows that the fold replaces."""
    change_one_day(store)
    known = everything(settings)
    find = rewrite._touched

    def joined_meanwhile(*args):
        monkeypatch.setattr(rewrite, "_touched", find)
        found = find(*args)
        tables.open(SCHEDULES).optimize.z_order([DUE])
        return found

    monkeypatch.setattr(rewrite, "_touched", joined_meanwhile)
    with pytest.raises(CommitFailedError):
        fold(tables, NativeFoldWriter(tables), at(0))
    assert everything(settings) == known
    fold(tables, NativeFoldWriter(tables), at(0))
    assert everything(settings) == known


def test_a_fold_that_slept_through_another_is_refused(store, settings, tables):
    """What it has worked out is of the table as it was: the mark would go back."""
    change_one_day(store)

    class Sleeper(NativeFoldWriter):
        def merge(self, *said):
            store.commit(tick(4, commands=[cancel(KEYS[50], 304)]))
            store.commit(tick(5, commands=[put(b"x", 305, due=1_000)]))
            store.fold(at(0))
            super().merge(*said)

    with pytest.raises(CommitFailedError):
        fold(tables, Sleeper(tables), at(0))
    pending = store.pending([b"in\0" + key for key in KEYS], True)
    assert pending.num_rows == len(KEYS) - 2  # two were cancelled


def test_a_large_bucket_is_written_in_parts_and_divided_into_files(store, tables, monkeypatch):
    monkeypatch.setattr(bucket_file, "_MEMORY", 1_000)
    monkeypatch.setattr(bucket_file, "_FILE", 1)
    same_day = [put(b"n%d" % n, 400 + n, due=8 * DAYS + n) for n in range(30)]
    for batch in (2, 3, 4):
        store.commit(tick(batch, commands=same_day[(batch - 2) * 10 : (batch - 1) * 10]))
        store.commit(tick(batch + 5, commands=[]))
    store.commit(tick(10, commands=[cancel(KEYS[31], 500), put(b"x", 501, due=1_000)]))
    store.commit(tick(11, commands=[put(b"x", 502, due=1_000)]))
    store.fold(at(0))
    of_day = [uri for uri in tables.open(SCHEDULES).file_uris() if "2027-01-23" in uri]
    assert len(of_day) > 1
    pending = store.pending([b"in\0" + k for k in KEYS] + [b"in\0n%d" % n for n in range(30)], True)
    assert pending.num_rows == 129


@pytest.mark.parametrize("keys", [[], [b"nobody"], [KEYS[3]], [KEYS[3], KEYS[77], b"nobody"]])
def test_few_rows_are_read_as_by_a_scan_of_all(store, tables, keys):
    data = tables.dataset(SCHEDULES)
    where = pc.field(IDENTITY).isin([b"in\0" + key for key in keys])
    found, scanned = read_few(data, [IDENTITY, DUE], where), read(data, [IDENTITY, DUE], where)
    assert found.sort_by(DUE).to_pylist() == scanned.sort_by(DUE).to_pylist()
    assert found.schema == scanned.schema
