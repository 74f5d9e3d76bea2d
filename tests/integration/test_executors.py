"""Executors that publish a backlog on a real broker: once each, whatever kills their tasks."""

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path

import pytest
from confluent_kafka import Message
from pyspark.sql import SparkSession

from pipeline.clock import now_micros
from pipeline.local_kafka import LocalKafka
from pipeline.outbox.connection import Connection
from pipeline.outbox.deputies import Deputies
from pipeline.outbox.errand import Means
from pipeline.outbox.item import Item
from pipeline.outbox.marker import Marker
from pipeline.outbox.newest import Newest
from pipeline.outbox.outbox import Outbox
from pipeline.outbox.record import Record
from pipeline.outbox.records import Shape
from pipeline.outbox.recovery import recover
from pipeline.outbox.relay import Relay
from pipeline.outbox.transactional import TransactionalPublisher
from state import row
from state.crashpoint import CRASH_AT
from state.errors import KafkaError
from state.memory import MemoryStore
from state.row import Status
from state.settings import DAY
from state.version import Version
from tests.integration.running import in_seconds, place, run_once
from tests.integration.worlds import World, flush, world_on

Read = Callable[[str], list[Message]]
LANES = 2
COUNT = 32_000  # three transactions on lane 0, one on the other
MINUTE = 60_000_000


@pytest.fixture
def world(broker: LocalKafka, topics: Callable[..., str]) -> World:
    return world_on(broker, topics)


@contextmanager
def lending(
    spark: SparkSession,
    world: World,
    elsewhere: Connection | None = None,
    shape: Shape | None = None,
    **limit: float,
) -> Iterator[Outbox]:
    """An outbox whose lanes go to executors where anything is overdue."""
    found = recover(world.publisher, LANES, MemoryStore(keep_closed=DAY), now=1)
    connection = elsewhere or world.connection
    means = Means(connection, shape or world.shape, world.retry)
    deputies = Deputies(spark, means, **limit)
    outbox = Outbox(
        found.publishers,
        0.0,
        threading.Event(),
        hold_limit=10 * MINUTE,
        relay=lambda workers, report: Relay(workers, found.publishers, deputies, 0, report),
    )
    outbox.begin(row.ROW.empty_table(), 0, found.watermarks)
    yield outbox
    outbox.stop()


@contextmanager
def dying(spark: SparkSession, point: str) -> Iterator[None]:
    """Let each Python process of Spark that comes to ``point`` kill itself."""
    environment = spark.sparkContext.environment
    environment[CRASH_AT] = point
    try:
        yield
    finally:
        del environment[CRASH_AT]


def backlog(world: World, count: int = COUNT, **columns: list) -> object:
    """Rows long due, three quarters of them on lane 0, each later than the one before."""
    began = now_micros() - MINUTE
    given = {
        "due": [began + n for n in range(count)],
        "scheduled": [began + n for n in range(count)],
        "hash": [0 if n % 4 else 1 for n in range(count)],
        "occurrence": [0] * count,
        "payload": [b"%d" % n for n in range(count)],
        "output_partition": [0 if n % 4 else 1 for n in range(count)],  # a partition for each lane
    }
    return world.rows(*(b"%d" % n for n in range(count)), **given | columns)


def numbers(messages: list[Message]) -> list[int]:
    return [int(message.value() or b"") for message in messages]


def test_a_backlog_goes_out_by_executors_once_in_order_and_with_receipts(
    world: World, spark: SparkSession, read: Read
) -> None:
    nowhere, held = 17, 42
    wanted = [world.out if n != nowhere else "nowhere" for n in range(COUNT)]
    with lending(spark, world) as outbox:
        outbox.saw([(b"in\x00%d" % held, 0, Version("in", 0, COUNT, COUNT))])
        outbox.hand_over(1, backlog(world, output_topic=wanted))
        found = read(world.out)
        outcomes = outbox.reported()
        assert (outbox.waiting, outbox.unseen()) == (1, [])
        assert outbox.gone(b"in\x00%d" % (COUNT - 1), 0, Version("in", 0, COUNT, COUNT))
        went = [n for n in range(COUNT) if n not in (nowhere, held)]
        for partition in (0, 1):
            mine = [n for n in went if (n % 4 == 0) == bool(partition)]
            assert numbers([m for m in found if m.partition() == partition]) == mine
        statuses = Counter(outcomes[row.STATUS].to_pylist())
        assert statuses == {Status.DONE: len(went), Status.DEAD: 1}
        places = (row.SOURCE_OFFSET, row.PUBLISHED_PARTITION, row.PUBLISHED_OFFSET)
        told = {n: at for n, *at in zip(*(outcomes[name].to_pylist() for name in places))}  # noqa: B905
        assert all(told[int(m.value())] == [m.partition(), m.offset()] for m in found)
        assert [m.key() for m in read(world.shape.dead_letter_topic)] == [b"%d" % nowhere]
        assert len(read(world.shape.internal_topic)) == 1
        still = outbox.stop()
        assert [item.identity for item in still] == [b"in\x00%d" % held]


@pytest.mark.parametrize("point", ["in_transaction:1", "in_transaction:3", "after_transaction:3"])
def test_a_task_killed_at_any_instant_loses_nothing_and_doubles_nothing(
    world: World, spark: SparkSession, read: Read, point: str
) -> None:
    """Lane 0 dies in its third transaction, lane 1 has but one; in the first, both die."""
    with lending(spark, world) as outbox:
        with dying(spark, point):
            outbox.hand_over(1, backlog(world))
        outbox.drain()
        outcomes, unseen = outbox.reported(), outbox.unseen()
        found = numbers(read(world.out))
        assert sorted(found) == list(range(COUNT))
        assert outcomes.num_rows + len(unseen) == COUNT
        assert bool(unseen) == (point != "in_transaction:1")
        assert not _both(outcomes[row.SOURCE_OFFSET].to_pylist(), unseen)
        outbox.hand_over(2, world.rows(b"next", occurrence=[0], claim=[2], payload=[b"-1"]))
        outbox.drain()
    assert numbers(read(world.out)).count(-1) == 1


def freezing(shape: Shape) -> Shape:
    """A shape that freezes the task of lane 0 in its second transaction."""

    class Freezing(Shape):  # here, so that it travels to the task by value
        times = 0

        def marker(self, marker: Marker, lane: int, run: str) -> Record:
            type(self).times += lane == 0
            if self.times == 2:
                os.kill(os.getpid(), signal.SIGSTOP)
            return Shape.marker(self, marker, lane, run)

    return Freezing(**{each.name: getattr(shape, each.name) for each in fields(shape)})


def test_a_task_that_hangs_is_given_up_and_the_driver_goes_on(
    world: World, spark: SparkSession, read: Read
) -> None:
    few = COUNT // 2
    with lending(spark, world, shape=freezing(world.shape), limit=3.0) as outbox:
        outbox.hand_over(1, backlog(world, few))
        outbox.drain()
        # What the task had published before it froze is told by the marker.
        assert outbox.reported().num_rows + len(outbox.unseen()) == few
    assert sorted(numbers(read(world.out))) == list(range(few))


def test_where_executors_cannot_reach_kafka_the_driver_goes_on_and_says_so_once(
    world: World, spark: SparkSession, read: Read, caplog: pytest.LogCaptureFixture
) -> None:
    with lending(spark, world, elsewhere=cut_off(world)) as outbox:
        for batch in (1, 2):
            outbox.hand_over(batch, backlog(world, 100, claim=[batch] * 100))
            outbox.drain()
        assert outbox.reported().num_rows == 200
    assert len(read(world.out)) == 200
    assert caplog.text.count("the driver goes on by itself") == 1


def cut_off(world: World) -> Connection:
    """A connection to nobody."""
    nobody = {**world.connection.client, "bootstrap.servers": "127.0.0.1:1", "log_level": 0}
    return replace(world.connection, client=nobody, timeout=2.0)


def _both(outcomes: list[int], unseen: list[Item]) -> set[int]:
    return set(outcomes) & {item.version.offset for item in unseen}


def test_a_borrower_that_comes_late_finds_the_lane_taken_back_and_leaves_it_alone(
    world: World, read: Read
) -> None:
    lender, late = lane_of(world), world.publisher()
    loan = lender.lend()
    lender.take_back()
    with pytest.raises(KafkaError, match="taken over"):
        late.borrow(loan)
    lender.publish(flush(world.rows(b"a")))
    assert [m.key() for m in read(world.out)] == [b"a"]


def test_of_two_attempts_the_later_one_goes_on_and_the_lender_ends_both(
    world: World, read: Read
) -> None:
    lender, first, second = lane_of(world), world.publisher(), world.publisher()
    loan = lender.lend()
    first.borrow(loan)
    first.publish(flush(world.rows(b"a"), batch=1, watermark=5))
    found = second.borrow(loan)
    assert found is not None
    assert found.watermark == 5
    with pytest.raises(KafkaError, match="taken over"):
        first.publish(flush(world.rows(b"b"), batch=1, watermark=6))
    second.publish(flush(world.rows(b"b"), batch=1, watermark=6))
    assert lender.take_back().watermark == 6
    with pytest.raises(KafkaError, match="taken over"):
        second.publish(flush(world.rows(b"c"), batch=1, watermark=7))
    lender.publish(flush(world.rows(b"c"), batch=1, watermark=7))
    assert [m.key() for m in read(world.out)] == [b"a", b"b", b"c"]


def test_a_borrower_that_comes_while_the_lane_is_taken_back_costs_nothing(
    world: World, read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes when the lender has read the marker and not signed it yet, and publishes more."""
    lender, late = lane_of(world), world.publisher()
    loan = lender.lend()
    opened = lender._open_again

    def opened_too_soon() -> Newest:
        monkeypatch.undo()
        found = opened()
        late.borrow(loan)
        late.publish(flush(world.rows(b"a"), batch=1, watermark=5))
        return found

    monkeypatch.setattr(lender, "_open_again", opened_too_soon)
    assert lender.take_back().watermark == 5
    with pytest.raises(KafkaError, match="taken over"):
        late.publish(flush(world.rows(b"b"), batch=1, watermark=6))
    lender.publish(flush(world.rows(b"b"), batch=1, watermark=6))
    assert [m.key() for m in read(world.out)] == [b"a", b"b"]


def test_a_borrower_that_fences_the_lender_late_stops_and_the_lender_goes_on(
    world: World, read: Read
) -> None:
    """It had looked when the lane was still lent, and opens it when that is no longer so."""
    lender, late = lane_of(world), world.publisher()
    lender.lend()
    lender.take_back()
    late._open()
    lender.publish(flush(world.rows(b"a"), batch=1, watermark=5))
    late._open()
    lender.publish(flush(world.rows(b"b"), batch=1, watermark=6))
    assert [m.key() for m in read(world.out)] == [b"a", b"b"]


def test_a_lender_that_a_successor_has_fenced_stops(world: World, read: Read) -> None:
    lender = lane_of(world)
    lender.lend()
    lender.take_back()
    world.connection = replace(world.connection, run="successor")
    lane_of(world)
    with pytest.raises(KafkaError, match="another job has taken over"):
        lender.publish(flush(world.rows(b"a"), batch=1, watermark=5))
    assert read(world.out) == []


def test_a_stop_ends_the_wait_for_a_lane_that_is_lent_while_kafka_is_away(world: World) -> None:
    stopping = threading.Event()
    parts = (world.shape, world.known, world.retry, stopping.is_set)
    lender = TransactionalPublisher(0, cut_off(world), *parts)
    lender.lend()
    with pytest.raises(KafkaError, match="stopped while Kafka could not be reached"):
        lender.take_back(stopping.set)


def lane_of(world: World) -> TransactionalPublisher:
    (lender,) = recover(world.publisher, 1, MemoryStore(keep_closed=DAY), now=1).publishers
    assert isinstance(lender, TransactionalPublisher)
    return lender


def test_a_job_lets_executors_publish_and_its_ledger_closes(
    spark: SparkSession,
    broker: LocalKafka,
    topics: Callable[..., str],
    tmp_path: Path,
    read: Read,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", logger="pipeline.outbox.relay")
    few = {"publish.executors_above": 10, "publish.lanes": 1}  # two cores for it
    job = place(tmp_path, broker.bootstrap_servers, topics, **few)
    with job.client() as client:
        for n in range(50):
            to = job.out if n else "missing-topic"
            client.schedule(str(n), topic=to, key=f"k{n}", at=in_seconds(-60), wait=False)
    run_once(spark, job.settings)
    assert "executors took 50 overdue messages" in caplog.text
    assert sorted(numbers(read(job.out))) == list(range(1, 50))
    ledger = job.stats().ledger
    assert ledger.difference == 0
    assert ledger.ends[Status.DONE] == 49
    (line,) = job.rows_of("k1")
    assert line[row.PUBLISHED_OFFSET] is not None
    assert job.statuses_of("k0") == ["pending"]  # tried again later
