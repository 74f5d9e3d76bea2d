"""Messages that come late, on a real broker: expired ones stay behind, late ones say so."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from threading import Thread

import pyarrow as pa
import pytest
from confluent_kafka import Message

from pipeline.backlog import Backlog
from pipeline.clock import now_micros
from pipeline.horizon import Horizon
from pipeline.local_kafka import LocalKafka
from pipeline.measure import Measure
from pipeline.outbox.connection import Connection
from pipeline.outbox.marks import Marks
from pipeline.outbox.note import read_notes
from pipeline.outbox.outbox import Outbox
from pipeline.outbox.publisher import Published
from pipeline.outbox.records import Shape
from pipeline.outbox.recovery import Recovered, recover
from pipeline.outbox.retry import RetryRules
from pipeline.outbox.topics import Topics
from pipeline.quiet import quiet
from pipeline.raw import TIMED_COMMANDS
from pipeline.tick import Ticker
from state import row
from state.inspect import Filter
from state.memory import MemoryStore
from state.row import BATCH_TIME, Entry, Status
from state.settings import DAY
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
KINDS = pytest.mark.parametrize("kind", ["publisher", "plain"])

PAST = json.dumps({"expires": LONG_PAST + 5_000})
AHEAD = json.dumps({"expires": 4 * 10**15})


@pytest.fixture
def world(broker: LocalKafka, topics: Callable[..., str]) -> World:
    world = world_on(broker, topics)
    world.shape = replace(world.shape, marks=Marks(late_after=10_000_000))
    return world


@pytest.fixture
def late(world: World, topics: Callable[..., str]) -> str:
    """The late topic of the world."""
    name = topics("late")
    world.shape = replace(world.shape, late_topic=name)
    return name


def notes(world: World, read: Read) -> list[dict]:
    values = [note.value() for note in read(world.shape.internal_topic)]
    return read_notes(values, world.shape.state_id).to_pylist()


@KINDS
def test_what_has_expired_is_not_published_and_a_note_says_so(
    world: World, read: Read, kind: str
) -> None:
    rows = world.rows(b"late", b"good", policy=[PAST, AHEAD], attempted_at=[[1], None])
    published = world.only(rows, kind)
    assert [m.key() for m in read(world.out)] == [b"good"]
    assert {n: each.status for n, each in published.decided.items()} == {0: Status.EXPIRED}
    assert published.receipts[0] is None
    (note,) = notes(world, read)
    assert (note[row.IDENTITY], note[row.STATUS]) == (b"in\x00late", Status.EXPIRED)
    assert note[row.REASON] == "expired"
    assert note[row.ATTEMPT] is note[row.ATTEMPTED_AT] is note[row.PUBLISHED_AT] is None
    assert read(world.shape.dead_letter_topic) == []


@KINDS
def test_what_has_expired_goes_to_the_late_topic_as_it_was(
    world: World, late: str, read: Read, kind: str
) -> None:
    rows = world.rows(
        b"k",
        policy=[PAST],
        payload=[b"\x00\xff"],
        output_key=[b"other"],
        headers=[[{"key": "x", "value": b"1"}]],
        scheduled=[LONG_PAST],
    )
    before = now_micros()
    world.only(rows, kind)
    assert read(world.out) == []
    (letter,) = read(late)
    assert (letter.key(), letter.value()) == (b"other", b"\x00\xff")
    said = headers(letter)
    assert (said["x"], said["duestream-reason"]) == (b"1", b"expired")
    assert said["duestream-output-topic"] == world.out.encode()
    assert (said["duestream-topic"], said["duestream-offset"]) == (b"in", b"0")
    assert int(said["duestream-late-ms"]) in range(before // 1_000 - 1, now_micros() // 1_000)
    assert len(notes(world, read)) == 1


def test_letter_note_and_marker_of_an_expired_message_are_one_transaction(
    world: World, late: str, read: Read
) -> None:
    publisher, heir = world.publisher(), world.publisher()
    publisher.open()

    def fenced(*_: object) -> None:
        heir.open()  # another job takes over when all is sent and nothing committed
        commit(*_)

    commit, publisher._commit = publisher._commit, fenced
    with pytest.raises(Exception, match="another job has taken over"):
        publisher.publish(flush(world.rows(b"k", policy=[PAST])))
    assert [read(topic) for topic in (late, world.shape.internal_topic)] == [[], []]
    publisher.close()
    heir.close()
    world.only(world.rows(b"k", policy=[PAST]))
    assert [len(read(topic)) for topic in (late, world.shape.internal_topic)] == [1, 1]


def test_a_late_topic_that_takes_no_record_so_large_gets_it_without_its_value(
    world: World, late: str, read: Read
) -> None:
    world.only(world.rows(b"a", b"b", payload=[b"x" * 3_000_000, b"y"], policy=[PAST, AHEAD]))
    assert [m.value() for m in read(world.out)] == [b"y"]
    (letter,) = read(late)
    assert letter.value() is None
    assert headers(letter)["duestream-value-omitted"] == b"3000000 bytes"


def test_a_message_tried_again_expires_when_its_next_turn_comes_too_late(
    world: World, read: Read
) -> None:
    world.retry = RetryRules(9, DAY, 1_000, 1_000)
    soon = json.dumps({"expires": now_micros() + 1_000_000})
    rows = world.rows(b"k", output_topic=["nowhere"], policy=[soon])
    assert world.only(rows).decided[0].status is Status.PENDING
    tried = world.rows(b"k", output_topic=["nowhere"], policy=[PAST], attempted_at=[[7]])
    assert world.only(tried).decided[0].status is Status.EXPIRED
    assert [note[row.STATUS] for note in notes(world, read)] == [Status.PENDING, Status.EXPIRED]


def begun(store: MemoryStore, found: Recovered) -> tuple[Ticker, Outbox]:
    """A job at work with what recovery found."""
    outbox = Outbox(found.publishers, 0.005, threading.Event())
    outbox.begin(found.waiting, store.last_batch, found.watermarks)
    ticker = Ticker(store, outbox, Horizon(0, 0), Backlog(100, 100, {}), Measure())
    return ticker, outbox


def tick(ticker: Ticker, number: int, at: int, notes: list[bytes]) -> None:
    lines = [{row.ENTRY: Entry.NOTE.value, row.PAYLOAD: note} for note in notes]
    lines.append({row.ENTRY: Entry.CLOCK.value})
    timed = [line | {BATCH_TIME: at} for line in lines]
    ticker(lambda: pa.Table.from_pylist(timed, schema=TIMED_COMMANDS), number)


@pytest.mark.parametrize("known_first", [True, False])
def test_after_a_crash_an_expired_message_ends_as_expired_not_as_done(
    world: World, read: Read, known_first: bool
) -> None:
    rows = world.rows(b"late", b"good", policy=[PAST, None])
    store = store_with_claims(rows)
    world.shape = replace(world.shape, state_id=store.state_id)
    world.only(rows)  # and the job is gone before it can tell the state
    found = recover(world.publisher, 1, store, now=5)
    assert [item.identity for item in found.out] == [b"in\x00late", b"in\x00good"]
    ticker, outbox = begun(store, found)
    ticker.close_when_new(found.out, found_at=10)
    written = [note.value() for note in read(world.shape.internal_topic)]
    if known_first:  # a batch of the former run has read the note
        tick(ticker, 2, 9, written)
        tick(ticker, 3, 10, [])
    else:
        tick(ticker, 2, 10, written)
    outbox.stop()
    ended = store.rows(Filter(kind=None)).to_pylist()
    assert {each[row.KEY]: each[row.STATUS] for each in ended} == {
        b"late": Status.EXPIRED,
        b"good": Status.DONE,
    }
    assert store.stats(11).ledger.difference == 0
    assert [m.key() for m in read(world.out)] == [b"good"]


def test_without_a_crash_the_report_ends_it_as_expired(world: World) -> None:
    store = store_with_claims(world.rows(b"late", policy=[PAST]))
    first = world.publisher()
    first.open()
    first.publish(flush(world.rows(), batch=1, watermark=0))
    first.close()
    ticker, outbox = begun(store, recover(world.publisher, 1, store, now=5))
    outbox.drain()
    tick(ticker, 2, 10, [])
    outbox.stop()
    (ended,) = store.rows(Filter(statuses=[Status.EXPIRED])).to_pylist()
    assert ended[row.DETAIL].startswith("scheduled for 1970-01-01T00:00:00.001Z, to be sent before")
    assert ended[row.ATTEMPT] in (None, 0)


@KINDS
def test_a_late_message_says_by_how_much_and_a_punctual_one_says_nothing(
    world: World, read: Read, kind: str
) -> None:
    due = now_micros() - 60_000_000
    world.only(world.rows(b"late", b"now", due=[due, now_micros()]), kind)
    by_key = {m.key(): m for m in read(world.out)}
    assert int(headers(by_key[b"late"])["duestream-late-ms"]) in range(60_000, 70_000)
    assert by_key[b"now"].headers() is None


@KINDS
def test_messages_of_a_series_say_which_one_they_are(world: World, read: Read, kind: str) -> None:
    due = now_micros()
    rows = world.rows(
        b"a", b"b", due=[due, due], occurrence=[6, 0], policy=['{"series":true}', None]
    )
    world.only(rows, kind)
    by_key = {m.key(): m for m in read(world.out)}
    said = headers(by_key[b"a"])
    assert said.keys() == {"duestream-occurrence", "duestream-scheduled"}
    assert said["duestream-occurrence"] == b"7"
    assert said["duestream-scheduled"].endswith(b"%06dZ" % (due % 1_000_000))
    assert by_key[b"b"].headers() is None


@KINDS
def test_what_expires_while_kafka_is_away_is_not_sent_when_it_is_back(kind: str) -> None:
    # A broker killed in the middle of it may leave a transaction that nobody can end: then anew.
    tries = (_published_after_an_outage(kind) for _ in range(3))
    decided, sent, notes = next(found for found in tries if found is not None)
    assert {n: each.status for n, each in decided.items()} == {0: Status.EXPIRED}
    assert (sent, notes) == ([b"first", b"long"], 1)


def _published_after_an_outage(kind: str) -> tuple[dict, list[bytes], int] | None:
    """Return what was decided, sent and noted; None if the broker did not recover."""
    with LocalKafka() as broker:
        for name in ("dead", "internal", "markers", "out"):
            broker.create_topics([name])
        servers = broker.bootstrap_servers
        client = quiet({"bootstrap.servers": servers})
        quick = {"message.timeout.ms": 2_000} if kind == "plain" else {}
        world = World(
            Connection("state", client, quick, 10.0),
            Shape("dead", "internal", "markers", False, "state"),
            "out",
            Topics(client),
        )
        publisher = getattr(world, kind)()
        publisher.open()
        publisher.publish(flush(world.rows(b"first")))  # the topics are known from here on
        while len(read_committed(servers, "out")) < 1:
            time.sleep(0.1)
        broker.kill()
        soon = json.dumps({"expires": now_micros() + 3_000_000})
        due = flush(world.rows(b"short", b"long", policy=[soon, AHEAD]), batch=2)
        answers: list[Published] = []
        thread = Thread(target=lambda: answers.append(publisher.publish(due)), daemon=True)
        thread.start()
        time.sleep(4)
        broker.start()
        thread.join(120)
        if not answers:
            return None
        publisher.close()
        sent = [m.key() for m in read_committed(servers, "out")]
        return answers[0].decided, sent, len(read_committed(servers, "internal"))
