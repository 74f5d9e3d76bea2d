"""Whatever happens in whatever order, every store gives the answers of the one in memory."""

import tempfile
import uuid
from pathlib import Path

import hypothesis.strategies as st
import pytest
from build import (
    at,
    cancel,
    carried_out,
    every,
    identity_of,
    ignored,
    outcome,
    put,
    receipt,
    settled,
    tick,
)
from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from promises_keys import FIELDS
from pymongo import MongoClient

import state.mongo.sending
import state.mongo.store
from state.crashpoint import Point
from state.delta.keeper import WindowKeeper
from state.inspect import Filter, Order
from state.memory import MemoryStore
from state.open import open_inspector, open_store, open_watcher
from state.pausing import Paused
from state.readable import READ
from state.row import CLOSED, LIVE, PARKED_ALONE
from state.settings import DAY, DeltaSettings, MongoSettings, StateSettings

KEYS = [b"a", b"b", b"c", b"d"]
DUES = [0, 1, 5, 30, 100, 10_000, 3_000_000, 30_000_000]
SLOW = Paused(topics=frozenset({"slow"}))
ENDS = ["done", "dead", "expired", "cancelled", "replaced"]

keys = st.sampled_from(KEYS)
dues = st.sampled_from(DUES)
partitions = st.sampled_from([0, 0, 0, 1, 2])
repeats = st.one_of(
    st.none(),
    st.tuples(
        st.sampled_from([1, 7, 50]), st.sampled_from([2, 9, 999]), st.sampled_from(["all", "last"])
    ),
)
commands = st.dictionaries(
    keys, st.tuples(st.booleans(), dues, st.integers(0, 2), partitions, repeats)
)
decisions = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from([*ENDS, "pending", "unknown", "parked"]), dues),
    max_size=3,
)


class Stores(RuleBasedStateMachine):
    """Tells both stores the same and compares all they answer."""

    def __init__(self):
        super().__init__()
        self.batch, self.now, self.offsets, self.versions = -1, 0, [0, 0, 0], []

    def _open(self, settings):
        self.settings = settings
        self.memory, self.store = MemoryStore(DAY), open_store(self.settings)
        self.inspector = open_inspector(self.settings)

    @rule(
        said=commands,
        decided=decisions,
        ahead=st.sampled_from([-1, 0, 5, 60, 20_000]),
        limit=st.sampled_from([1, 2, 100]),
        passed=st.sampled_from([0, 1, 40]),
        turned_away=st.lists(keys, max_size=2),
        paused=st.sampled_from([None, None, None, Paused(), Paused(True), SLOW]),
    )
    def commit(self, said, decided, ahead, limit, passed, turned_away, paused):
        self.batch, self.now = self.batch + 1, self.now + passed
        more = {"until": self.now + ahead, "limit": limit, "paused": paused}
        more["commands"] = [self._command(key, *rest) for key, rest in said.items()]
        more["commands"] += [self._turned_away(key) for key in turned_away]
        more["outcomes"] = self._outcomes(decided)
        claims = [self._commit(s, tick(self.batch, self.now, **more)) for s in self._stores()]
        assert claims[0].to_pylist() == claims[1].to_pylist()
        self._note(claims[0].to_pylist())

    @rule()
    def commit_again(self):
        claims = [s.commit(tick(s.last_batch)) for s in self._stores() if s.last_batch >= 0]
        assert all(c.to_pylist() == claims[0].to_pylist() for c in claims)

    @rule(decided=decisions)
    def settle(self, decided):
        said = settled(*self._outcomes(decided))
        for store in self._stores():
            store.settle(said, at(self.now))

    @rule(said=commands)
    def take(self, said):
        lines = [self._command(key, *rest) for key, rest in said.items()]
        table = tick(self.batch, commands=lines).commands
        for store in self._stores():
            store.take(table, {}, at(self.now), lanes=1)

    @rule()
    def reopen(self):
        self.store.close()
        self.store = open_store(self.settings)

    @invariant()
    def all_answers_are_the_same(self):
        if self.batch < 0:
            return
        # Readers first: a commit may still be carried out while they ask.
        everything = Filter(kind=None)
        assert self._rows(self.inspector.rows(everything)) == self._rows(
            self.memory.rows(everything)
        )
        figures, expected = self.inspector.stats(at(self.now)), self.memory.stats(at(self.now))
        assert figures.ledger == expected.ledger
        assert figures.ledger.difference == 0
        assert figures.pending_by_topic == expected.pending_by_topic
        assert figures.next_due == expected.next_due
        assert figures.oldest_overdue == expected.oldest_overdue
        assert figures.paused == expected.paused
        assert self.inspector.waiting() == self.memory.waiting()
        for order in Order:
            for statuses in (LIVE, CLOSED, None):
                where = Filter(statuses=statuses, order=order, kind=None, limit=3)
                assert self.inspector.rows(where, READ) == self.memory.rows(where, READ)
        assert self.store.paused == self.memory.paused
        assert self._rows(self.store.unsettled()) == self._rows(self.memory.unsettled())
        if expected.next_due is not None:
            assert self.store.next_due() <= expected.next_due
        for whole in (False, True):
            assert self._pending(self.store, whole) == self._pending(self.memory, whole)

    def teardown(self):
        self.store.close()

    def _stores(self):
        return self.memory, self.store

    def _commit(self, store, said):
        return store.commit(said)

    def _note(self, claims):
        for row in claims:
            if row["occurrence"]:
                stamp = (row["source_timestamp"] - at(0)) // 1_000_000
                place = row["source_offset"], row["source_partition"], stamp, row["occurrence"]
                self.versions.append((row["key"], *place))

    def _command(self, key, is_cancel, due, superseded, partition, repeat):
        """Make a command of the newest record but where the key's last one is still live.

        A closed version is remembered for two folds only, so nothing older is sent after it.
        """
        offset, self.offsets[partition] = self.offsets[partition], self.offsets[partition] + 1
        pending = self.memory.rows(Filter(key=key, statuses=["pending"])).to_pylist()
        newest = self.memory._newest.get(b"in\0" + key)
        late = partition == 2 and any(
            r["source_offset"] == newest.offset and r["source_partition"] == newest.partition
            for r in pending
        )
        stamp = 1 if late else 1000 + sum(self.offsets)
        where = {"partition": partition, "stamp": stamp, "superseded": superseded}
        where["output_topic"] = "slow" if superseded else "out"
        self.versions.append((key, offset, partition, stamp, 0))
        if is_cancel:
            return cancel(key, offset, **where)
        if repeat is not None:
            seconds, count, on_miss = repeat
            more = {"count": count, "on_miss": on_miss}
            where["policy"] = every(seconds, first=self.now + due, **more)
        return put(key, offset, due=self.now + due, **where)

    def _turned_away(self, key):
        offset, self.offsets[1] = self.offsets[1], self.offsets[1] + 1
        stamp = 1000 + sum(self.offsets)
        self.versions.append((key, offset, 1, stamp, 0))
        return ignored(key, offset, partition=1, stamp=stamp)

    def _outcomes(self, decided):
        if not self.versions:
            return []
        made = []
        for back, status, due in decided:
            chosen = self.versions[-1 - back % len(self.versions)]
            key, offset, partition, stamp, occurrence = chosen
            told = {} if status == "unknown" else receipt()
            if status == "pending":
                told = {"due": self.now + due, "attempt": 1}
            if status == "parked":
                told = {"due": PARKED_ALONE}
                status = "pending"
            ended = "done" if status == "unknown" else status
            told |= {"partition": partition, "stamp": stamp, "occurrence": occurrence}
            made.append(outcome(key, offset, ended, **told))
        return made

    def _pending(self, store, whole):
        rows = store.pending([identity_of(key) for key in [*KEYS, b"nobody"]], whole)
        return self._rows(rows if whole else rows.select(FIELDS))

    @staticmethod
    def _rows(table):
        order = ["source_topic", "source_partition", "source_offset", "occurrence"]
        return table.sort_by([(name, "ascending") for name in order]).to_pylist()


class InDelta(Stores):
    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()

    @initialize(rows=st.sampled_from([1, 2, 1000]))
    def open(self, rows):
        path = str(Path(self.folder.name) / "state")
        self._open(StateSettings(delta=DeltaSettings(path=path, window_rows=rows)))

    @rule()
    def fold(self):
        self.store.fold(at(self.now))

    @rule()
    def load_the_next_window(self):
        keeper: WindowKeeper = self.store._keeper
        self.store.maintain(at(self.now))
        keeper.wait()

    def teardown(self):
        super().teardown()
        self.folder.cleanup()


class Watched(InDelta):
    """The same, seen by one watcher that lives through all of it."""

    def _open(self, settings):
        super()._open(settings)
        self.inspector = open_watcher(settings)

    def all_answers_are_the_same(self):
        self.inspector.wait()
        assert self.inspector._watch.current() is not None
        super().all_answers_are_the_same()


class Killed(Exception):
    """Stands for a process that is gone."""


class InMongo(Stores):
    uri = ""
    crash_at = None

    @initialize(rows=st.sampled_from([1, 2, 1000]))
    def open(self, rows):
        self.name = f"agree-{uuid.uuid4().hex[:12]}"
        mongo = MongoSettings(uri=self.uri, database=self.name, batch_rows=rows)
        self._open(StateSettings(kind="mongo", mongo=mongo))

    @rule(point=st.sampled_from([Point.DURING_COMMIT, Point.DURING_APPLY, Point.DURING_APPLY]))
    def crash_in_the_next_commit(self, point):
        self.crash_at = point

    def _commit(self, store, said):
        """Commit; where a crash cuts it short, once more in the life after it."""
        if store is self.memory or self.crash_at is None:
            return store.commit(said)
        with pytest.MonkeyPatch.context() as patch:
            for module in (state.mongo.store, state.mongo.sending):
                patch.setattr(module, "reach", self._crash)
            try:
                return carried_out(store, said)
            except Killed:
                self.reopen()
        return self.store.commit(said)

    def _crash(self, point):
        if point is self.crash_at:
            self.crash_at = None
            raise Killed

    def teardown(self):
        super().teardown()
        with MongoClient(self.uri) as client:
            client.drop_database(self.name)


class WatchedMongo(InMongo):
    """The same, seen by one watcher that lives through all of it."""

    def _open(self, settings):
        super()._open(settings)
        self.inspector = open_watcher(settings)


def explore(machine):
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=25,
            stateful_step_count=15,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            derandomize=True,
            database=None,
        ),
    )


def test_the_store_in_delta_tables_agrees():
    explore(InDelta)


def test_what_a_watcher_sees_of_delta_tables_agrees():
    explore(Watched)


def test_the_store_in_mongodb_agrees(mongo, monkeypatch):
    monkeypatch.setattr(InMongo, "uri", mongo.uri)
    explore(InMongo)


def test_what_a_watcher_sees_of_mongodb_agrees(mongo, monkeypatch):
    monkeypatch.setattr(InMongo, "uri", mongo.uri)
    explore(WatchedMongo)
