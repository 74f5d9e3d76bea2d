"""Whatever happens in whatever order, every message goes out once, in time, or is accounted for."""

import tempfile
from collections import Counter
from pathlib import Path

import hypothesis.strategies as st
import pytest
from build import SECOND, at
from hypothesis import HealthCheck, Phase, note, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)
from model import LIVE as NOT_CLOSED
from small_job import SmallJob
from small_kafka import Crash
from steps import step_of

import state.memory
import state.outcomes
import state.resolve
from pipeline.outbox.lane import Lane
from state.inspect import Filter
from state.memory import MemoryStore
from state.open import open_inspector, open_store
from state.row import LIVE
from state.settings import DAY, DeltaSettings, StateSettings

YEARS = 10_000 * DAY
seeds = st.integers(0, 2**24 - 1)  # no more: larger ranges are not drawn from evenly


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


class Protocol(RuleBasedStateMachine):
    """Drives the job into all that may happen to it; ``small_job`` compares with the model."""

    keep = InMemory
    job: SmallJob | None = None

    @initialize(run=seeds, lanes=st.integers(1, 3), claim_limit=st.sampled_from([2, 1000, 1000]))
    def begin(self, run, lanes, claim_limit):
        self.run = run
        self.kept = self.keep()
        self.job = SmallJob(self.kept, lanes, claim_limit)
        self.stamp, self.back = 100, 0

    @rule(seed=seeds)
    def go_on(self, seed):
        name, told = step_of(self.run, seed)
        note(f"{name} {told}")
        getattr(self, f"_{name}")(**told)

    def teardown(self):
        if self.job is None:
            return
        try:
            self._drain()
            self._check()
        finally:
            self.job.close()
            self.kept.remove()

    def _produce(self, said):
        for kind, key, due, topic in said:
            self.stamp += 10
            getattr(self, f"_{kind}")(key, self.job.now + due, topic)

    def _put(self, key, due, topic):
        self.job.kafka.produce(key, 0, self.stamp, due, topic)

    def _cancel(self, key, due, topic):
        self.job.kafka.produce(key, 0, self.stamp, None, topic)

    def _repeat(self, key, due, topic):
        """The newest record of a key once more, with a new offset."""
        log = [record for record in self.job.kafka.source[0] if record.line["key"] == key]
        for line, is_put in log[-1:]:
            again = (line["due"] - at(0)) // SECOND if is_put else None
            self.job.kafka.produce(key, 0, self.stamp, again, line["output_topic"])

    def _put_elsewhere(self, key, due, topic):
        """A put on another partition, with a timestamp older than most of the key's records."""
        self.back = max(self.back, self.stamp - 35)
        self.job.kafka.produce(key, 1, self.back, due, topic)

    def _tick(self, interruptions, zombie, unread, twice):
        planned = {point: (what, seconds) for point, what, seconds in interruptions}

        def interrupt(point):
            self._interrupt(*planned.pop(point, ("", 0)))

        if not self.job.tick(interrupt, unread, twice):
            self.job.crash(self.job.lanes, zombie)

    def _release(self, seconds):
        self.job.move_clock(seconds)
        self.job.release()

    def _begin_a_transaction(self, lane):
        if lane < self.job.lanes and lane not in self.job.flights:
            self.job.depart(lane)

    def _end_a_transaction(self, fate, lanes):
        if self.job.flights and not self.job.arrive(min(self.job.flights), fate):
            self.job.crash(lanes)

    def _crash(self, lanes, zombie, on_marker):
        self.job.crash(lanes, zombie, on_marker)

    def _stop_and_start(self, lanes):
        self.job.stop(lanes)

    def _move_the_clock(self, seconds):
        self.job.move_clock(seconds)

    def _make_or_remove_a_topic(self):
        self.job.kafka.is_bad = not self.job.kafka.is_bad

    def _fold(self):
        self.kept.fold(self.job.store, self.job.clock())

    def _interrupt(self, what, seconds):
        self.job.move_clock(seconds)
        if what == "depart":
            for lane in set(range(self.job.lanes)) - set(self.job.flights):
                self.job.depart(lane)
        if "release" in what:
            self.job.release()
        if "crash" in what:
            raise Crash

    def _drain(self):
        """Let all that is said be heard and all that is due go out."""
        self.job.kafka.is_bad = False
        for _ in range(20 + 2 * sum(map(len, self.job.kafka.source))):
            self.job.move_clock(40)
            self.job.release()
            assert self.job.tick(lambda point: None)
            open_ones = [f for f in self.job.model.fates.values() if f.state in NOT_CLOSED]
            if not (open_ones or self.job.unread()):
                break
        self.job.tick(lambda point: None)  # the last receipts

    def _check(self):
        model, rows = self.job.model, self.kept.rows(self.job.store)
        statuses = {(r["source_partition"], r["source_offset"]): r["status"] for r in rows}
        assert statuses.keys() == model.fates.keys()
        for name, fate in model.fates.items():
            assert statuses[name] in fate.ends, f"{name} is {statuses[name]}, not {fate}"
        assert len(set(self.job.kafka.output)) == len(self.job.kafka.output)
        ledger = self.kept.inspector.stats(self.job.clock()).ledger
        assert ledger.difference == 0
        assert not any(ledger.ends[status] for status in LIVE)
        assert Counter(ledger.ends) == Counter(statuses.values()) + model.passed_over
        assert ledger.late_cancels == model.late_cancels
        for row in rows:
            if row["published_offset"] is not None:
                name = self.job.kafka.output[row["published_offset"]]
                assert name == (row["source_partition"], row["source_offset"])


class ProtocolInDelta(Protocol):
    keep = InDelta


def explore(machine, examples, **more):
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=40,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
            **more,
        ),
    )


def test_every_message_goes_out_once_or_is_accounted_for():
    explore(Protocol, 300)


def test_the_same_holds_for_a_state_in_delta_tables():
    explore(ProtocolInDelta, 15)


def test_without_the_hold_a_crash_counts_a_message_as_out_that_never_went(monkeypatch):
    retract = Lane.retract

    def forgetful(lane, identity, version):
        item = retract(lane, identity, version)
        lane.lift_holds()
        return item

    monkeypatch.setattr(Lane, "retract", forgetful)
    with pytest.raises(AssertionError, match="taken for out"):
        explore(Protocol, 500, phases=[Phase.generate])


def test_without_the_rule_of_notes_a_crash_loses_a_retry(monkeypatch):
    def only_live(version, status):
        return version.status in LIVE

    monkeypatch.setattr(state.outcomes, "_corrects", lambda *names: False)
    for module in (state.memory, state.resolve):
        monkeypatch.setattr(module, "may_act", only_live)
    with pytest.raises(AssertionError):
        explore(Protocol, 300, phases=[Phase.generate])
