"""The outbox on a real broker: once each, through refusals, restarts and zombies."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from uuid import uuid4

import pytest
from confluent_kafka import KafkaError as Code
from confluent_kafka import KafkaException, Message
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource

from pipeline.clock import now_micros
from pipeline.local_kafka import LocalKafka
from pipeline.outbox.connection import Connection
from pipeline.outbox.lane import Flush
from pipeline.outbox.marker import Marker
from pipeline.outbox.note import read_notes
from pipeline.outbox.outbox import Outbox
from pipeline.outbox.publisher import Publisher
from pipeline.outbox.records import Shape
from pipeline.outbox.recovery import begin_unmarked, recover
from pipeline.outbox.retry import RetryRules
from pipeline.outbox.topics import Topics
from pipeline.quiet import quiet
from state import row
from state.claims import Room
from state.crashpoint import Point
from state.errors import KafkaError, StateError
from state.memory import MemoryStore
from state.row import Status
from state.settings import DAY
from state.store import Tick
from tests.integration.worlds import (
    LONG_PAST,
    World,
    flush,
    headers,
    store_with_claims,
    world_on,
)
from tests.reading import read_committed

Read = Callable[[str], list[Message]]


@pytest.fixture
def world(broker: LocalKafka, topics: Callable[..., str]) -> World:
    return world_on(broker, topics)


def test_messages_and_marker_go_out_together(world: World, read: Read) -> None:
    publisher = world.publisher()
    assert publisher.open() is None
    rows = world.rows(b"a", b"b", payload=[b"\x00\xff", None], output_key=[b"k", None])
    published = publisher.publish(flush(rows, batch=7, watermark=9))
    publisher.close()
    found = {
        (m.partition(), m.offset()): (m.key(), m.value(), m.headers()) for m in read(world.out)
    }
    assert [found[receipt] for receipt in published.receipts] == [
        (b"k", b"\x00\xff", None),
        (None, None, None),
    ]
    again = world.publisher()
    assert again.open() == Marker(7, 9, 1)
    again.close()


def test_headers_key_and_partition_are_those_of_the_row(world: World, read: Read) -> None:
    publisher = world.publisher()
    publisher.open()
    wanted = [{"key": "x", "value": b"1"}, {"key": "x", "value": None}]
    publisher.publish(flush(world.rows(b"a", headers=[wanted], output_partition=[1])))
    publisher.close()
    (message,) = read(world.out)
    assert message.partition() == 1
    assert message.headers() == [("x", b"1"), ("x", None)]


def test_a_zombie_is_fenced_and_told_to_stop(world: World, read: Read) -> None:
    zombie, heir = world.publisher(), world.publisher()
    zombie.open()
    heir.open()
    with pytest.raises(KafkaError, match="another job has taken over"):
        zombie.publish(flush(world.rows(b"a")))
    assert read(world.out) == []
    zombie.close()
    heir.close()


def test_a_job_that_wakes_up_to_a_timeout_leaves_its_successor_alone(
    world: World, read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In doubt a lane is opened anew, which fences whoever holds it: the frozen one looks first."""
    (frozen,) = recover(world.publisher, 1, MemoryStore(keep_closed=DAY), now=1).publishers
    store = store_with_claims(world.rows(b"a"))
    world.connection = replace(world.connection, run="successor")
    heirs: list[Publisher] = []

    def freeze(point: Point) -> None:
        if point is Point.IN_TRANSACTION:
            monkeypatch.undo()
            heirs.extend(recover(world.publisher, 1, store, now=5).publishers)
            raise KafkaException(Code(Code._TIMED_OUT, "frozen for longer than its patience"))

    monkeypatch.setattr("pipeline.outbox.transactional.reach", freeze)
    with pytest.raises(KafkaError, match="another job has taken over"):
        frozen.publish(flush(world.rows(b"a")))
    heirs[0].publish(flush(world.rows(b"a"), batch=2))
    assert len(read(world.out)) == 1
    frozen.close()
    heirs[0].close()


@pytest.mark.parametrize("kind", ["publisher", "plain"])
def test_a_refused_message_is_tried_again_as_a_note_says(
    world: World, read: Read, kind: str
) -> None:
    world.retry = RetryRules(max_attempts=3, max_age=DAY, first_delay=1_000_000, longest_delay=DAY)
    publisher = getattr(world, kind)()
    publisher.open()
    rows = world.rows(b"bad", output_topic=["nowhere"], attempted_at=[[now_micros() - 1_000]])
    published = publisher.publish(flush(rows))
    publisher.close()
    assert set(published.decided) == {0}
    assert read(world.shape.dead_letter_topic) == []
    (note,) = read(world.shape.internal_topic)
    (outcome,) = read_notes([note.value()], world.shape.state_id).to_pylist()
    assert (outcome[row.STATUS], outcome[row.ATTEMPT]) == (Status.PENDING, 2)
    assert outcome[row.DUE] == outcome[row.ATTEMPTED_AT][1] + 2_000_000
    assert outcome[row.REASON] == "unknown_topic"


def test_an_unknown_topic_becomes_a_dead_letter_and_a_note(world: World, read: Read) -> None:
    publisher = world.publisher()
    publisher.open()
    rows = world.rows(b"bad", b"good", payload=[b"v", b"w"], output_topic=["nowhere", world.out])
    published = publisher.publish(flush(rows))
    publisher.close()
    assert set(published.decided) == {0}
    assert [m.key() for m in read(world.out)] == [b"good"]
    (letter,) = read(world.shape.dead_letter_topic)
    assert (letter.key(), letter.value()) == (b"bad", b"v")
    assert headers(letter)["duestream-reason"] == b"unknown_topic"
    assert headers(letter)["duestream-attempts"].startswith(b"20")
    (note,) = read(world.shape.internal_topic)
    (outcome,) = read_notes([note.value(), b"junk", None], world.shape.state_id).to_pylist()
    assert (outcome[row.IDENTITY], outcome[row.STATUS]) == (b"in\x00bad", Status.DEAD)


def test_a_message_too_large_for_its_topic_does_not_hold_up_the_others(
    world: World, read: Read
) -> None:
    publisher = world.publisher()
    publisher.open()
    publisher.publish(flush(world.rows(b"a", b"b", b"c", payload=[b"1", b"x" * 3_000_000, b"2"])))
    publisher.close()
    assert sorted(m.value() for m in read(world.out)) == [b"1", b"2"]
    (letter,) = read(world.shape.dead_letter_topic)  # which takes no 3 MB either
    assert letter.value() is None
    assert headers(letter)["duestream-reason"] == b"too_large_for_topic"
    assert headers(letter)["duestream-value-omitted"] == b"3000000 bytes"


def test_the_message_at_fault_is_found_when_the_broker_refuses_its_whole_batch(
    world: World, broker: LocalKafka, read: Read
) -> None:
    publisher = world.publisher()
    publisher.open()
    publisher.publish(flush(world.rows(b"first")))  # the topic's limit is known from here on
    lower_limit(broker, world.out, 2_000)
    keys = [b"%d" % n for n in range(20)]
    payloads = [b"x" * (5_000 if n == 13 else 50) for n in range(20)]
    published = publisher.publish(flush(world.rows(*keys, payload=payloads), batch=2))
    publisher.close()
    assert set(published.decided) == {13}
    assert {m.key() for m in read(world.out)} == {b"first", *keys} - {b"13"}
    assert len(read(world.out)) == 20
    assert [m.key() for m in read(world.shape.dead_letter_topic)] == [b"13"]


def lower_limit(broker: LocalKafka, topic: str, largest: int) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    entry = ConfigEntry(
        "max.message.bytes", str(largest), incremental_operation=AlterConfigOpType.SET
    )
    resource = ConfigResource("topic", topic, incremental_configs=[entry])
    admin.incremental_alter_configs([resource])[resource].result(30)


def test_a_restart_publishes_what_the_marker_does_not_cover_and_nothing_else(
    world: World, read: Read
) -> None:
    rows = world.rows(b"out", b"not-out", due=[LONG_PAST, LONG_PAST + 1])
    store = store_with_claims(rows)
    first = world.publisher()
    first.open()
    first.publish(flush(rows.slice(0, 1), batch=1, watermark=LONG_PAST))
    found = recover(world.publisher, 1, store, now=5)
    assert [item.identity for item in found.out] == [b"in\x00out"]
    outbox = Outbox(found.publishers, 0.005, threading.Event())
    outbox.begin(found.waiting, store.last_batch, found.watermarks)
    outbox.drain()
    outbox.stop()
    assert sorted(m.key() for m in read(world.out)) == [b"not-out", b"out"]
    first.close()


def test_a_batch_handed_over_twice_goes_out_once(world: World, read: Read) -> None:
    outbox = Outbox(opened(world, 2), 0.005, threading.Event())
    outbox.begin(row.ROW.empty_table(), 0, [-1, -1])
    rows = world.rows(b"a", b"b", hash=[0, 1])
    outbox.hand_over(1, rows)
    outbox.hand_over(1, rows)
    outbox.drain()
    reported = outbox.reported()
    assert outbox.stop() == []
    assert sorted(m.key() for m in read(world.out)) == [b"a", b"b"]
    assert reported[row.STATUS].to_pylist() == [Status.DONE, Status.DONE]


def opened(world: World, lanes: int) -> list[Publisher]:
    publishers: list[Publisher] = [world.publisher(lane) for lane in range(lanes)]
    for publisher in publishers:
        publisher.open()
    return publishers


def test_a_lost_marker_stops_the_job_and_publishes_nothing(world: World, read: Read) -> None:
    store = store_with_claims(world.rows(b"a"))
    with pytest.raises(KafkaError, match="lane 0 has no marker"):
        recover(world.publisher, 1, store, now=5)
    assert read(world.out) == []


def test_a_state_that_was_set_back_stops_the_job_and_publishes_nothing(
    world: World, read: Read
) -> None:
    newer = world.publisher()
    newer.open()
    newer.publish(Flush([], Marker(7, LONG_PAST, 1)))
    newer.close()
    with pytest.raises(StateError, match=r"batch 7 are out, but the state ends with batch 1"):
        recover(world.publisher, 1, store_with_claims(world.rows(b"a")), now=5)
    assert read(world.out) == []


def test_another_number_of_lanes_claims_anew_what_was_not_out(world: World, read: Read) -> None:
    rows = world.rows(b"out", b"not-out", hash=[0, 3], due=[LONG_PAST, LONG_PAST])
    store = MemoryStore(keep_closed=DAY)
    for publisher in recover(world.publisher, 4, store, now=1).publishers:
        publisher.close()
    store = store_with_claims(rows)
    lane = world.publisher(0)
    lane.open()
    lane.publish(Flush(flush(rows.slice(0, 1)).items, Marker(1, LONG_PAST, 4)))
    found = recover(world.publisher, 2, store, now=5)
    for publisher in found.publishers:
        publisher.close()
    assert found.out == []  # closed in the state before the old markers were overwritten
    assert store.unsettled().num_rows == found.waiting.num_rows == 0
    later = Tick(2, 6, row.COMMANDS.empty_table(), row.OUTCOMES.empty_table(), 10**15, Room((100,)))
    assert store.commit(later)[row.KEY].to_pylist() == [b"not-out"]
    lane.close()


def test_without_transactions_everything_unsettled_goes_out_with_its_fire_id(
    world: World, read: Read
) -> None:
    shape = replace(world.shape, fire_id_header=True)
    world = World(world.connection, shape, world.out, world.known)
    rows = world.rows(b"a", b"bad", payload=[b"v", b"w"], output_topic=[world.out, "nowhere"])
    store = store_with_claims(rows)
    for _ in range(2):
        found = begin_unmarked(world.plain, 1, store)
        outbox = Outbox(found.publishers, 0.005, threading.Event())
        outbox.begin(found.waiting, store.last_batch, found.watermarks)
        outbox.drain()
        outbox.stop()
    first, second = read(world.out)
    assert first.value() == second.value() == b"v"
    assert headers(first)["duestream-fire-id"] == headers(second)["duestream-fire-id"]
    assert {m.key() for m in read(world.shape.dead_letter_topic)} == {b"bad"}


def test_lanes_go_on_within_moments_after_each_crash_of_the_broker() -> None:
    with LocalKafka() as broker:
        for name in ("dead", "internal", "markers", "out"):
            broker.create_topics([name], partitions=2)
        client = quiet({"bootstrap.servers": broker.bootstrap_servers})
        world = World(
            Connection(uuid4().hex, client, {}, 60.0),
            Shape("dead", "internal", "markers", False, "state"),
            "out",
            Topics(client),
        )
        outbox = Outbox(opened(world, 2), 0.0, threading.Event())
        outbox.begin(row.ROW.empty_table(), 0, [-1, -1])
        sent, done = 0, 0
        for crash in range(4):
            began = now_micros()
            keys = [b"%d-%d" % (crash, n) for n in range(600)]
            dues = [began + 5_000 * n for n in range(600)]  # over three seconds
            rows = world.rows(*keys, due=dues, hash=list(range(600)))
            outbox.hand_over(crash + 1, rows)
            sent += 600
            time.sleep(1 + crash / 3)
            broker.kill()
            broker.start()
            outbox.drain()
            done += outbox.reported()[row.STATUS].to_pylist().count(Status.DONE)
            assert done == sent
        assert outbox.stop() == []
        seen = [m.key() for m in read_committed(broker.bootstrap_servers, "out")]
    assert len(seen) == len(set(seen)) == sent
