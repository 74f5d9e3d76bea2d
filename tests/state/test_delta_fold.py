"""A fold may be cut short anywhere, and nobody can tell from the answers."""

import os
import signal
import time

import pytest
from build import at, cancel, outcome, put, receipt, tick
from subject import Subject

from state.delta.fold import fold, purge
from state.delta.layout import CHANGELOG, HISTORY, SCHEDULES
from state.delta.native import NativeFoldWriter
from state.delta.overlay import overlay
from state.delta.snapshot import look
from state.delta.tables import tables_of
from state.inspect import Filter
from state.open import open_inspector, open_store
from state.row import ROW
from state.settings import DAY, DeltaSettings, StateSettings

A, B, C, D = b"a", b"b", b"c", b"d"


class Crash(Exception):
    """The fold's process is gone."""


class CrashingWriter(NativeFoldWriter):
    """Crashes before, or after, one of the commits of a fold."""

    def __init__(self, tables, step, before):
        super().__init__(tables)
        self._step, self._before = step, before

    def add_history(self, rows, seq):
        self._do("history", lambda: super(CrashingWriter, self).add_history(rows, seq))

    def merge(self, *said):
        self._do("merge", lambda: super(CrashingWriter, self).merge(*said))

    def delete(self, layout, predicate):
        self._do(
            f"delete {layout.name}", lambda: super(CrashingWriter, self).delete(layout, predicate)
        )

    def _do(self, step, commit):
        if step == self._step and self._before:
            raise Crash
        commit()
        if step == self._step:
            raise Crash


@pytest.fixture
def settings(tmp_path):
    return StateSettings(delta=DeltaSettings(path=str(tmp_path / "state"), fold_rows=5))


@pytest.fixture
def tables(settings):
    return tables_of(settings.delta)


@pytest.fixture
def subject(settings):
    subject = Subject(
        lambda: open_store(settings),
        lambda store: open_inspector(settings),
        lambda store, now: store.fold(now),
    )
    yield subject
    subject.close()


def live_a_life(subject, batch=0):
    """Leave rows in every status, some of them far away, in six batches."""
    o = batch * 10
    subject.commit(batch, commands=[put(A, o, due=1), put(B, o + 1, due=2), put(C, o + 2, due=3)])
    subject.commit(batch + 1, now=1, until=2)
    done = outcome(A, o, "done", **receipt())
    back = outcome(B, o + 1, "pending", due=900_000, attempt=1)
    subject.commit(batch + 2, now=2, outcomes=[done, back], commands=[put(D, o + 3, due=800_000)])
    subject.commit(batch + 3, now=3, commands=[put(C, o + 4, due=4), cancel(D, o + 5)], until=4)
    subject.commit(batch + 4, now=4, commands=[put(A, o + 6, due=700_000), cancel(D, o + 7)])
    subject.commit(batch + 5, now=5, commands=[put(D, o + 8, due=6)])


def everything(subject):
    """Return every answer there is."""
    ledger = subject.stats().ledger
    return {
        "rows": subject.rows(kind=None).sort_by("source_offset").to_pylist(),
        "unsettled": subject.store.unsettled().to_pylist(),
        "ledger": (ledger.accepted, ledger.ends, ledger.rejected, ledger.late_cancels),
        "batch": subject.store.last_batch,
    }


CRASHES = [
    (step, before) for step in ("history", "merge", "delete changelog") for before in (True, False)
]


@pytest.mark.parametrize(("step", "before"), CRASHES)
def test_a_fold_that_crashes_between_two_commits_does_no_harm(subject, tables, step, before):
    live_a_life(subject)
    known = everything(subject)
    with pytest.raises(Crash):
        fold(tables, CrashingWriter(tables, step, before), at(5))
    assert everything(subject) == known
    subject.reopen()
    assert everything(subject) == known
    subject.fold()
    assert everything(subject) == known


@pytest.mark.parametrize(("step", "before"), CRASHES)
def test_a_later_fold_goes_on_where_one_crashed(subject, tables, step, before):
    live_a_life(subject)
    with pytest.raises(Crash):
        fold(tables, CrashingWriter(tables, step, before), at(5))
    live_a_life(subject, batch=6)
    known = everything(subject)
    subject.fold(5)
    assert everything(subject) == known
    subject.reopen()
    assert everything(subject) == known
    pending = subject.pending()
    assert subject.commit(20, until=1_000_000) == pending


def test_a_fold_leaves_live_rows_only_and_trims_the_changelog(subject, tables):
    live_a_life(subject)
    subject.fold(5)
    snapshot = look(tables)
    assert set(snapshot.tail.column("batch").to_pylist()) == {5}
    rows = tables.dataset(SCHEDULES).to_table()
    live = [s for s in rows.column("status").to_pylist() if s]
    assert sorted(live) == ["claimed", "pending", "pending"]
    closed = tables.dataset(HISTORY).to_table().column("status").to_pylist()
    assert sorted(closed) == ["cancelled", "done", "replaced"]
    assert tables.dataset(CHANGELOG).to_table().num_rows == snapshot.tail.num_rows


def test_a_reader_that_began_before_a_fold_ends_right_after_it(subject, tables):
    live_a_life(subject)
    known = everything(subject)["rows"]
    before = look(tables)
    subject.fold(5)
    changed = overlay(before)
    rows = changed.rows(changed).select(ROW.names).sort_by("source_offset").to_pylist()
    assert rows == known


def test_a_reader_between_the_commits_of_a_fold_sees_no_row_twice(subject, tables, settings):
    live_a_life(subject)
    known = everything(subject)

    class Watched(NativeFoldWriter):
        seen = 0

        def _check(self):
            Watched.seen += 1
            assert everything(subject) == known

        def add_history(self, rows, seq):
            super().add_history(rows, seq)
            self._check()

        def merge(self, *said):
            super().merge(*said)
            self._check()

        def delete(self, layout, predicate):
            super().delete(layout, predicate)
            self._check()

    fold(tables, Watched(tables), at(5))
    assert Watched.seen == 3


def test_old_days_of_the_history_are_purged_and_the_ledger_still_closes(subject, tables):
    live_a_life(subject)
    subject.fold(5)
    ledger = subject.stats().ledger
    writer = NativeFoldWriter(tables)
    purge(writer, at(5), DAY)
    assert tables.dataset(HISTORY).to_table().num_rows == 3
    purge(writer, at(5) + 2 * DAY, DAY)
    assert tables.dataset(HISTORY).to_table().num_rows == 0
    assert subject.stats().ledger == ledger
    assert ledger.difference == 0


def test_tidying_leaves_every_answer_as_it_was(subject, tables):
    for batch in (0, 6, 12):
        live_a_life(subject, batch)
        subject.fold(5)
    known = everything(subject)
    NativeFoldWriter(tables).tidy(keep=0)
    assert everything(subject) == known
    subject.reopen()
    assert everything(subject) == known
    subject.commit(18, commands=[put(A, 500, due=9)], until=10)


def wait_until(condition):
    while not condition():
        time.sleep(0.01)  # a fold has little more than what others leave of the processors


def test_maintain_folds_in_a_process_of_its_own_and_never_waits(subject, tables):
    live_a_life(subject)
    known = everything(subject)
    subject.store.maintain(at(5))
    runner = subject.store._upkeep._runner
    assert runner.pid is not None
    wait_until(lambda: subject.store.maintain(at(5)) or runner.pid is None)
    assert look(tables).mark.seq > 0
    assert everything(subject) == known
    assert subject.commit(6, commands=[put(A, 100, due=8)], until=10) == [(D, 8), (A, 100)]


def test_a_fold_waits_while_a_backlog_goes_out_though_not_for_ever(subject, settings):
    live_a_life(subject)
    upkeep = subject.store._upkeep
    subject.store.maintain(at(5), busy=True)
    assert upkeep._runner.pid is None
    upkeep._settings = settings.delta.model_copy(update={"fold_rows": 1})
    subject.store.maintain(at(5), busy=True)
    assert upkeep._runner.pid is not None


@pytest.mark.parametrize("table", ["none", "history", "schedules"])
def test_a_fold_killed_at_any_time_is_done_again(subject, tables, table):
    live_a_life(subject)
    known = everything(subject)
    subject.store.maintain(at(5))
    runner = subject.store._upkeep._runner
    layouts = {"history": HISTORY, "schedules": SCHEDULES}
    if table in layouts:
        wait_until(
            lambda: (
                runner._process.poll() is not None
                or tables.open(layouts[table]).transaction_version("duestream")
            )
        )
    os.kill(runner.pid, signal.SIGKILL)
    runner._process.wait()
    assert everything(subject) == known
    subject.store.maintain(at(5))
    retry = 60
    wait_until(lambda: subject.store.maintain(at(retry)) or look(tables).mark.seq > 0)
    assert everything(subject) == known


def test_a_fold_ends_with_the_job_that_began_it(subject, tables):
    live_a_life(subject)
    runner = subject.store._upkeep._runner
    runner.start(at(5), tidy=False)
    process = runner._process
    process.stdin.close()
    process.wait()
    process.stdout.close()
    runner._process = None
    assert subject.rows(kind=None).num_rows == 7


def test_an_unknown_storage_failure_in_a_fold_never_stops_the_job(subject, settings, caplog):
    live_a_life(subject)
    runner = subject.store._upkeep._runner
    runner._tables = tables_of(DeltaSettings(path=settings.delta.path + "-elsewhere"))
    subject.store.maintain(at(5))
    wait_until(lambda: subject.store.maintain(at(5)) or "a fold failed" in caplog.text)
    assert "no state at" in caplog.text
    assert subject.commit(6, commands=[put(A, 100, due=8)], until=10) == [(D, 8), (A, 100)]


def test_the_inspector_answers_while_a_job_writes(subject, settings):
    beside = open_inspector(settings)
    live_a_life(subject)
    assert beside.rows(Filter(kind=None)).num_rows == 7
    subject.store.commit(tick(6, commands=[put(b"e", 100, due=50)]))
    assert beside.rows(Filter(kind=None)).num_rows == 8
