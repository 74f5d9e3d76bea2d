"""Whatever happens in whatever order, every message goes out once, in time, or is accounted for."""

from collections import Counter

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
from kept import InDelta, InMemory, InMongo
from model import LIVE as NOT_CLOSED
from small_job import SmallJob
from small_kafka import Crash
from steps import step_of

import state.memory
import state.mongo.ahead
import state.mongo.pace
import state.outcomes
import state.resolve
from pipeline.outbox.lane import Lane
from state.crashpoint import Point
from state.row import LIVE

seeds = st.integers(0, 2**24 - 1)  # no more: larger ranges are not drawn from evenly


class Protocol(RuleBasedStateMachine):
    """Drives the job into all that may happen to it; ``small_job`` compares with the model."""

    keep = InMemory
    job: SmallJob | None = None
    is_well = True

    @initialize(
        run=seeds, lanes=st.sampled_from([1, 1, 2, 3]), claim_limit=st.sampled_from([2, 1000, 1000])
    )
    def begin(self, run, lanes, claim_limit):
        self.run = run
        self.kept = self.keep()
        self.job = SmallJob(self.kept, lanes, claim_limit)
        self.stamp, self.back = 100, 0

    @rule(seed=seeds)
    def go_on(self, seed):
        name, told = step_of(self.run, seed)
        note(f"{name} {told}")
        self.is_well = False
        getattr(self, f"_{name}")(**told)
        self.is_well = True

    def teardown(self):
        if self.job is None:
            return
        try:
            if self.is_well:  # else a step has failed, and that is what is to be told
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

    def _look_out(self):
        self.job.look_out()

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
        for _ in range(1 + len(self.job.model.fates)):  # the last receipts, perhaps one at a time
            self.job.tick(lambda point: None)
            if self.job.store.unsettled().num_rows == 0:
                break

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


class ProtocolInMongo(Protocol):
    keep = InMongo


class CrashesBeforeCommit(Protocol):
    """Lets most batches be interrupted where the hold matters."""

    def _tick(self, interruptions, **told):
        crash = (Point.BEFORE_COMMIT, "release and crash", 3)
        super()._tick([crash] if interruptions else [], **told)


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
    explore(Protocol, 150)


def test_the_same_holds_for_a_state_in_delta_tables():
    explore(ProtocolInDelta, 12)


def test_the_same_holds_for_a_state_in_mongodb(mongo, monkeypatch):
    monkeypatch.setattr(InMongo, "uri", mongo.uri)
    explore(ProtocolInMongo, 12)


def test_the_same_holds_where_outcomes_are_told_one_at_a_time(monkeypatch):
    monkeypatch.setattr(state.memory.MemoryStore, "outcomes_at_once", 1)
    explore(Protocol, 100)


def test_the_same_holds_in_mongodb_where_each_claim_and_outcome_takes_a_second(mongo, monkeypatch):
    monkeypatch.setattr(InMongo, "uri", mongo.uri)
    monkeypatch.setattr(state.mongo.ahead, "_COUNTS", (1, 2, 4))
    for name, value in (("_GUESS", 1.0), ("_LEAST", 1), ("_TELLING", 1_000)):
        monkeypatch.setattr(state.mongo.pace, name, value)
    explore(ProtocolInMongo, 12)


def test_a_retry_read_by_the_batch_that_a_crash_interrupts_is_not_lost():
    job = SmallJob(InMemory(), lanes=1, claim_limit=1000)
    job.kafka.produce(b"a", 0, 1, 0, "bad")
    job.tick(lambda point: None)
    job.release()  # refused: there is a note
    assert not job.tick(lambda point: crash_at(point, Point.AFTER_READ))
    job.move_clock(1)
    job.crash(lanes=1)
    job.kafka.is_bad = False
    for _ in range(4):
        job.tick(lambda point: None)
        job.release()
        job.move_clock(2)
    job.close()
    assert job.kafka.output == [(0, 0)]


def test_a_cancel_takes_back_every_version_that_a_crash_left():
    job = SmallJob(InMemory(), lanes=1, claim_limit=1000)
    job.kafka.produce(b"a", 0, 1, 0, "out")
    job.tick(lambda point: None)
    job.depart(0)
    job.kafka.produce(b"a", 0, 2, 1, "out")  # too late for the first, which is on its way
    job.tick(lambda point: None)
    job.crash(lanes=1)  # its transaction never was: both wait
    job.kafka.produce(b"a", 0, 3, None, "out")
    job.tick(lambda point: None)
    job.move_clock(2)
    job.release()
    job.close()
    assert job.kafka.output == []
    assert [row["status"] for row in job.kept.rows(job.store)] == ["cancelled", "cancelled"]


def test_after_the_clock_stepped_back_a_new_message_still_waits_for_its_instant():
    job = SmallJob(InMemory(), lanes=1, claim_limit=1000)
    job.move_clock(30)
    job.kafka.produce(b"a", 0, 1, 30, "out")
    job.tick(lambda point: None)
    job.release()
    job.move_clock(-30)
    job.kafka.produce(b"b", 0, 2, 20, "out")
    for _ in range(19):
        job.tick(lambda point: None)
        job.release()
        job.move_clock(1)
    assert job.kafka.output == [(0, 0)]
    job.move_clock(2)
    job.tick(lambda point: None)
    job.release()
    job.close()
    assert job.kafka.output == [(0, 0), (0, 1)]


def crash_at(reached, point):
    if reached is point:
        raise Crash


def test_without_the_hold_a_crash_counts_a_message_as_out_that_never_went(monkeypatch):
    retract = Lane.retract

    def forgetful(lane, identity, version):
        item = retract(lane, identity, version)
        lane.lift_holds()
        return item

    monkeypatch.setattr(Lane, "retract", forgetful)
    with pytest.raises(AssertionError, match="taken for out"):
        explore(CrashesBeforeCommit, 1000, phases=[Phase.generate])


def test_a_marker_that_does_not_name_what_is_held_counts_it_as_out(monkeypatch):
    monkeypatch.setattr(Lane, "_not_out", lambda lane, upto: ())
    with pytest.raises(AssertionError):
        explore(Protocol, 300, phases=[Phase.generate])


def test_without_the_rule_of_notes_a_crash_loses_a_retry(monkeypatch):
    def only_live(version, status):
        return version.status in LIVE

    monkeypatch.setattr(state.outcomes, "_corrects", lambda *names: False)
    for module in (state.memory, state.resolve):
        monkeypatch.setattr(module, "may_act", only_live)
    with pytest.raises(AssertionError):
        explore(Protocol, 300, phases=[Phase.generate])
