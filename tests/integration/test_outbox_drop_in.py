"""In place of another scheduler, on a real broker: the message and what follows it, or neither."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from confluent_kafka import Message

from pipeline.local_kafka import LocalKafka
from pipeline.outbox.drop_in import DropIn, Replaced
from state.errors import KafkaError
from tests.integration.test_outbox import lower_limit
from tests.integration.worlds import World, world_on

Read = Callable[[str], list[Message]]
KINDS = pytest.mark.parametrize("kind", ["publisher", "plain"])
HEADERS = [{"key": "scheduler-key", "value": b"id"}]
PAIRS = [("scheduler-key", b"id")]


@pytest.fixture
def world(broker: LocalKafka, topics: Callable[..., str]) -> World:
    return world_on(broker, topics)


@pytest.fixture
def source(topics: Callable[..., str]) -> str:
    return topics("schedules", partitions=3)


def replacing(world: World, source: str, dialect: str, history: str | None = None) -> World:
    drop_in = DropIn({source: Replaced(dialect, history)})
    world.shape = replace(world.shape, drop_in=drop_in)
    return world


def from_source(world: World, source: str, *keys: bytes, **columns: list):
    count = len(keys)
    given = {"source_topic": [source] * count, "source_partition": [2] * count}
    return world.rows(*keys, **given | columns)


def seen(messages: list[Message]) -> list[tuple]:
    return [(m.partition(), m.key(), m.value(), m.headers()) for m in messages]


@KINDS
def test_a_message_of_etf1_its_mark_and_its_history_go_out_together(
    world: World, source: str, topics: Callable[..., str], read: Read, kind: str
) -> None:
    history = topics("history")
    replacing(world, source, "etf1", history)
    rows = from_source(
        world, source, b"id", payload=[b"v"], headers=[HEADERS], output_key=[b"target"]
    )
    assert None not in world.only(rows, kind).receipts
    assert [m[1:] for m in seen(read(world.out))] == [(b"target", b"v", PAIRS)]
    assert seen(read(source)) == [(2, b"id", None, [*PAIRS, ("duestream-ended", b"done")])]
    assert seen(read(history)) == [(0, b"target", b"v", PAIRS)]


@KINDS
def test_each_mark_goes_to_the_partition_of_its_schedule(
    world: World, source: str, topics: Callable[..., str], read: Read, kind: str
) -> None:
    other, alone = topics("karafka", partitions=2), topics("alone")
    drop_in = DropIn({source: Replaced("kms-avro"), other: Replaced("karafka")})
    world.shape = replace(world.shape, drop_in=drop_in)
    rows = world.rows(
        b"a",
        b"b",
        b"c",
        payload=[b"1", b"2", b"3"],
        source_topic=[source, other, alone],
        source_partition=[2, 1, 0],
    )
    world.only(rows, kind)
    assert {m.value() for m in read(world.out)} == {b"1", b"2", b"3"}
    assert seen(read(source)) == [(2, b"a", None, [("schedule:expired", b"true")])]
    assert seen(read(other)) == [(1, b"b", None, [("duestream-ended", b"done")])]
    assert read(alone) == []  # which replaces nothing


@KINDS
def test_a_message_that_is_dead_is_marked_so_and_the_others_as_sent(
    world: World, source: str, topics: Callable[..., str], broker: LocalKafka, read: Read, kind: str
) -> None:
    history = topics("history")
    replacing(world, source, "etf1", history)
    world.only(from_source(world, source, b"first"), kind)  # the topic's limit is known from here
    lower_limit(broker, world.out, 2_000)
    payloads = [b"1", b"x" * 5_000, b"2"]
    rows = from_source(world, source, b"a", b"b", b"c", payload=payloads)
    assert set(world.only(rows, kind, batch=2).decided) == {1}
    ends = {m.key(): dict(m.headers())["duestream-ended"] for m in read(source)}
    assert ends == {b"first": b"done", b"a": b"done", b"b": b"dead", b"c": b"done"}
    assert len(read(source)) == 4  # none is left of the attempts that Kafka refused
    assert {m.key() for m in read(history)} == {m.key() for m in read(world.out)}
    assert [m.value() for m in read(world.shape.dead_letter_topic)] == [payloads[1]]


@KINDS
def test_what_is_too_large_for_the_history_goes_out_and_is_kept_without_its_value(
    world: World, source: str, topics: Callable[..., str], read: Read, kind: str
) -> None:
    history = topics("small", max_message_bytes="2000")
    replacing(world, source, "etf1", history)
    rows = from_source(
        world, source, b"a", b"bad", payload=[b"x" * 5_000, b"y"], output_topic=[world.out, "none"]
    )
    world.only(rows, kind)
    assert [m.value() for m in read(world.out)] == [b"x" * 5_000]
    ((_, key, value, headers),) = seen(read(history))
    assert (key, value, headers) == (b"a", None, [("duestream-value-omitted", b"5000 bytes")])
    assert [m.value() for m in read(world.shape.dead_letter_topic)] == [b"y"]
    assert {m.key() for m in read(source)} == {b"a", b"bad"}


def test_a_mark_that_fails_stops_the_lane_with_neither_of_them_out_and_loses_nothing(
    world: World, source: str, read: Read
) -> None:
    rows = from_source(world, source, b"id", payload=[b"v"])
    replacing(world, source, "etf1", "history-that-is-not-there")
    with pytest.raises(KafkaError, match=r"history-that-is-not-there \(sources\[\]\.history_topic"):
        world.only(rows)
    assert read(world.out) == read(source) == []
    replacing(world, source, "etf1").only(rows)
    assert len(read(world.out)) == len(read(source)) == 1


def test_without_transactions_a_mark_that_fails_comes_after_its_message(
    world: World, source: str, read: Read
) -> None:
    rows = from_source(world, source, b"id", payload=[b"v"], source_partition=[7])
    with pytest.raises(KafkaError, match=r"sources\[\]\.drop_in\) takes no records"):
        replacing(world, source, "karafka").only(rows, "plain")
    assert [m.value() for m in read(world.out)] == [b"v"]
