"""When a batch may close what tasks have published and nobody has seen: once it read all notes."""

import threading
from collections.abc import Callable

import pyarrow as pa
import pytest

import pipeline.tick
from pipeline.backlog import Backlog
from pipeline.horizon import Horizon
from pipeline.latest import latest
from pipeline.measure import Measure
from pipeline.observe.observer import Observer, Settled
from pipeline.outbox.item import Item, items_by_lane
from pipeline.outbox.outbox import Outbox
from pipeline.outbox.told import Notes
from pipeline.raw import TIMED_COMMANDS
from pipeline.tick import Ticker
from state.errors import KafkaError
from state.inspect import Filter
from state.memory import MemoryStore
from state.row import BATCH_TIME, OUTCOMES, STATUS, VERSION_FIELDS, Entry, Status
from tests.integration.rows import claimed
from tests.integration.worlds import store_with_claims


class Ears(Observer):
    """Counts what it is told to be out."""

    listens = True
    out = 0

    def settled(self, what: Callable[[], Settled]) -> None:
        self.out += what().out.num_rows


class Desk:
    """A tick a second, over a claim that a task has published in batch 2."""

    def __init__(self, once: bool) -> None:
        claims = claimed(key=[b"a"], output_topic=["out"], due=[5])
        self.left = [item for _, item in items_by_lane(claims, 1)]
        self.store: MemoryStore = store_with_claims(claims)
        self.outbox = Outbox([None], 0, threading.Event())
        self.outbox.unseen = self.unseen
        parts = (self.store, self.outbox, Horizon(0, 0), Backlog(9, 9, {}), Measure())
        self.ears = Ears()
        self.ticker = Ticker(*parts, once=once, observer=self.ears)
        self.batch = 1

    def unseen(self) -> list[Item]:
        left, self.left = self.left, []
        return left

    def tick(self, said: Callable[[], None] = lambda: None) -> str:
        self.batch += 1
        line = {"entry": Entry.CLOCK.value, BATCH_TIME: self.batch * 1_000_000}

        def read() -> pa.Table:
            said()
            return latest(pa.Table.from_pylist([line], schema=TIMED_COMMANDS))

        self.ticker(read, self.batch)
        (status,) = self.store.rows(Filter(limit=9), [STATUS])[STATUS].to_pylist()
        return status


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline.tick, "now_micros", lambda: 2_500_000)


def found(desk: Desk) -> None:
    """Let a task have published what batch 2 handed over."""
    desk.ticker._hand_over(2, desk.store.claims_of(2))


def test_a_job_that_keeps_running_closes_it_in_the_next_batch() -> None:
    desk = Desk(once=False)
    desk.tick()
    found(desk)
    assert desk.tick() == "done"
    assert desk.ears.out == 1


def test_what_a_note_tells_of_is_not_closed() -> None:
    desk = Desk(once=False)
    (item,) = desk.left
    version = dict(zip((field.name for field in VERSION_FIELDS), (b"", *item.version), strict=True))
    line = version | {"status": "pending", "reason": "unknown_topic", "attempt": 1}
    notes = Notes(pa.Table.from_pylist([line], schema=OUTCOMES))
    assert notes.tell_of(item)
    assert notes.decided(item) == (Status.PENDING, "unknown_topic")
    assert not Notes(OUTCOMES.empty_table()).tell_of(item)


def test_a_query_that_ends_with_what_was_there_leaves_it_to_the_next_one() -> None:
    """Its batches have not read the notes that the task may have written."""
    desk = Desk(once=True)
    desk.tick()
    found(desk)
    assert [desk.tick(), desk.tick()] == ["claimed", "claimed"]
    desk.ticker.begin_query()
    assert desk.tick() == "done"


def test_a_batch_that_failed_is_remembered_until_another_goes_well() -> None:
    desk = Desk(once=False)

    def fails() -> None:
        raise KafkaError("away")

    with pytest.raises(KafkaError):
        desk.tick(fails)
    assert isinstance(desk.ticker.failure, KafkaError)
    desk.tick()
    assert desk.ticker.failure is None
