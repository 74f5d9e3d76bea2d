"""Output topics with a shape, on a real broker: to the byte, and in sizes."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from confluent_kafka import Message

from pipeline.clock import now_micros
from pipeline.config.load import load_settings
from pipeline.local_kafka import LocalKafka
from pipeline.outbox.shapes import OutputShapes, TopicShape
from pipeline.outbox.start import start_outbox
from pipeline.topics import prepare_topics
from state.memory import MemoryStore
from state.row import Kind
from state.settings import DAY
from tests.integration.test_outbox import lower_limit
from tests.integration.worlds import LONG_PAST, World, headers, world_on

Read = Callable[[str], list[Message]]
KINDS = pytest.mark.parametrize("kind", ["publisher", "plain"])

JSON = [{"key": "content-type", "value": b"application/json"}]


@pytest.fixture
def world(broker: LocalKafka, topics: Callable[..., str]) -> World:
    return world_on(broker, topics)


def shaped(world: World, **shape: object) -> World:
    outputs = OutputShapes([(world.out, TopicShape(**shape))])
    world.shape = replace(world.shape, outputs=outputs)
    return world


@KINDS
def test_a_message_in_binary_mode_is_this_to_the_byte(world: World, read: Read, kind: str) -> None:
    rows = world.rows(b"k", payload=[b'{"n": 1.10}'], headers=[JSON], scheduled=[1_500_000])
    shaped(world, envelope="binary").only(rows, kind)
    (message,) = read(world.out)
    assert (message.key(), message.value()) == (b"k", b'{"n": 1.10}')
    assert message.headers() == [
        ("content-type", b"application/json"),
        ("ce_specversion", b"1.0"),
        ("ce_id", b"in-0-0-1500000"),
        ("ce_source", b"duestream/in"),
        ("ce_type", b"io.duestream.message.v1"),
        ("ce_time", b"1970-01-01T00:00:01.500000Z"),
        ("ce_subject", b"k"),
    ]


@KINDS
def test_a_message_in_structured_mode_is_this_to_the_byte(
    world: World, read: Read, kind: str
) -> None:
    rows = world.rows(b"k", payload=[b'{"n": 1.10}'], headers=[JSON], scheduled=[1_500_000])
    shaped(world, envelope="structured").only(rows, kind)
    (message,) = read(world.out)
    assert message.key() == b"k"
    assert message.value() == (
        b'{"specversion":"1.0","id":"in-0-0-1500000","source":"duestream/in",'
        b'"type":"io.duestream.message.v1","time":"1970-01-01T00:00:01.500000Z","subject":"k",'
        b'"datacontenttype":"application/json","data":{"n": 1.10}}'
    )
    assert message.headers() == [("content-type", b"application/cloudevents+json")]


@KINDS
def test_a_tombstone_and_a_rejection_have_no_envelope(world: World, read: Read, kind: str) -> None:
    shaped(world, envelope="structured")
    world.only(
        world.rows(b"gone", b"no", payload=[None, b"x"], kind=[Kind.MESSAGE, Kind.REJECTION]), kind
    )
    found = {m.key(): (m.value(), m.headers()) for m in read(world.out)}
    assert found == {b"gone": (None, None), b"no": (b"x", None)}


@KINDS
def test_headers_are_added_and_stripped_on_this_topic_alone(
    world: World, topics: Callable[..., str], read: Read, kind: str
) -> None:
    other, own = topics("other"), [[{"key": "secret", "value": b"1"}]] * 2
    shaped(world, add=(("team", b"billing"),), strip=frozenset({"secret"}), fire_id_header=True)
    world.only(world.rows(b"a", b"b", output_topic=[world.out, other], headers=own), kind)
    (here,), (there,) = read(world.out), read(other)
    assert headers(here) == {"team": b"billing", "duestream-fire-id": b"in-0-0-None"}
    assert headers(there) == {"secret": b"1"}


@KINDS
def test_a_message_that_fits_only_without_its_envelope_is_a_dead_letter_as_it_was(
    world: World, topics: Callable[..., str], read: Read, kind: str
) -> None:
    world.out = topics("small", max_message_bytes="2000")
    payload = b"\xff" * 1_600  # 2,134 bytes of base64
    rows = world.rows(b"large", b"small", payload=[payload, b"\xff"])
    world.only(rows.slice(0, 1), kind)
    assert [m.key() for m in read(world.out)] == [b"large"]
    published = shaped(world, envelope="structured").only(rows, kind)
    assert set(published.decided) == {0}
    assert "max.message.bytes" in published.decided[0].detail  # known before it was tried
    assert {m.key() for m in read(world.out)} == {b"large", b"small"}
    (letter,) = read(world.shape.dead_letter_topic)
    assert (letter.key(), letter.value()) == (b"large", payload)
    assert headers(letter)["duestream-reason"] == b"too_large_for_topic"
    assert "content-type" not in headers(letter)


def test_the_broker_says_of_an_envelope_that_its_limit_has_changed(
    world: World, broker: LocalKafka, read: Read
) -> None:
    shaped(world, envelope="structured")
    world.only(world.rows(b"first", payload=[b"1"]))  # the topic's limit is known from here on
    lower_limit(broker, world.out, 2_000)
    rows = world.rows(b"a", b"b", b"c", payload=[b"1", b"\xff" * 1_600, b"2"])
    assert set(world.only(rows, batch=2).decided) == {1}
    assert {m.key() for m in read(world.out)} == {b"first", b"a", b"c"}


def test_settings_say_what_a_topic_looks_like_and_when_a_message_is_late(
    world: World, broker: LocalKafka, topics: Callable[..., str], read: Read
) -> None:
    settings = load_settings(
        flags={
            "name": world.out,
            "kafka.bootstrap_servers": broker.bootstrap_servers,
            "sources": [{"topic": topics("in")}],
            "outputs.allow": [world.out],
            "outputs.late_topic": f"late.{world.out}",
            "outputs.shape": {
                "nothing": {"envelope": "structured"},
                f"{world.out[:-1]}?": {"add": {"a": "ä"}, "strip": ["b"], "envelope": "binary"},
                world.out: {"add": {"never": "seen"}},
            },
            "publish.late_after": "2s",
        },
        environ={},
    )
    prepare_topics(settings)
    outbox, _ = start_outbox(settings, MemoryStore(keep_closed=DAY), now_micros())
    due, own = [LONG_PAST, now_micros() - 3_000_000], [{"key": "b", "value": b"1"}]
    rows = world.rows(
        b"late", b"k", due=due, scheduled=due, payload=[b"v", b"v"], headers=[own, own],
        policy=['{"expires":2000}', None],
    )  # fmt: skip
    outbox.hand_over(1, rows)
    outbox.drain()
    assert outbox.stop() == []
    (message,) = read(world.out)
    said = headers(message)
    assert (said["a"], said["ce_id"]) == ("ä".encode(), b"in-0-1-%d" % due[1])
    assert int(said["duestream-late-ms"]) >= 3_000
    assert "b" not in said
    assert "never" not in said
    (letter,) = read(f"late.{world.out}")
    assert (letter.key(), headers(letter)["b"]) == (b"late", b"1")
