"""A lane that a successor took over, seen by the run that had it, on a real broker."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka import KafkaError as Code
from confluent_kafka import KafkaException, Message

from pipeline.local_kafka import LocalKafka
from pipeline.outbox import transactional
from pipeline.outbox.marker import Marker
from pipeline.outbox.publisher import Publisher
from pipeline.outbox.recovery import recover
from pipeline.outbox.transactional import TransactionalPublisher
from state.crashpoint import Point
from state.errors import KafkaError
from state.memory import MemoryStore
from state.settings import DAY
from tests.integration.worlds import World, flush, store_with_claims, world_on

Read = Callable[[str], list[Message]]
Lanes = list[Publisher]

TIMEOUT = KafkaException(Code(Code._TIMED_OUT, "frozen for longer than its patience"))


@pytest.fixture
def world(broker: LocalKafka, topics: Callable[..., str]) -> World:
    return world_on(broker, topics)


def start(world: World, lanes: int, run: str) -> Lanes:
    """Start a run of the job on the world's state, in which a message is claimed."""
    world.connection = replace(world.connection, run=run)
    found = recover(world.publisher, lanes, store_with_claims(world.rows(b"a")), now=5)
    return list(found.publishers)


def first_run(world: World, lanes: int) -> Lanes:
    """Start a run before anything was claimed."""
    world.connection = replace(world.connection, run="first")
    return list(recover(world.publisher, lanes, MemoryStore(keep_closed=DAY), now=1).publishers)


def freeze_in_transaction(monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[], object]) -> None:
    """Freeze the next transaction before its commit, until its patience is over."""

    def freeze(point: Point) -> None:
        if point is Point.IN_TRANSACTION:
            monkeypatch.undo()
            meanwhile()
            raise TIMEOUT

    monkeypatch.setattr(transactional, "reach", freeze)


def test_a_lane_that_the_successor_has_no_more_is_not_gone_on_with(
    world: World, read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waited there is claimed anew for other lanes: to publish it would be once too often."""
    frozen = first_run(world, lanes=2)
    heirs: Lanes = []
    freeze_in_transaction(monkeypatch, lambda: heirs.extend(start(world, 1, "successor")))
    with pytest.raises(KafkaError, match="another job has taken over"):
        frozen[1].publish(flush(world.rows(b"a")))
    assert read(world.out) == []
    for lane in (*frozen, *heirs):
        lane.close()


def test_a_successor_that_comes_between_the_look_and_the_opening_is_seen(
    world: World, read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have taken messages back that the frozen run still holds."""
    (frozen,) = first_run(world, lanes=1)
    heirs: Lanes = []

    def look(*where: Any, settled: bool) -> Any:
        monkeypatch.undo()
        found = transactional.newest_record(*where, settled=settled)
        heirs.extend(start(world, 1, "successor"))
        return found

    freeze_in_transaction(
        monkeypatch, lambda: monkeypatch.setattr(transactional, "newest_record", look)
    )
    with pytest.raises(KafkaError, match="another job has taken over"):
        frozen.publish(flush(world.rows(b"a")))
    assert heirs, "the successor did not come"
    assert read(world.out) == []
    frozen.close()
    heirs[0].close()


def test_a_start_that_could_not_sign_a_lane_at_once_signs_it_then(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signature it finds is that of the run before it, which is no reason to stop."""
    (earlier,) = first_run(world, lanes=1)
    earlier.publish(flush(world.rows(b"a")))
    earlier.close()
    send_all = TransactionalPublisher._send_all

    def fail_once(*given: Any) -> None:
        monkeypatch.setattr(TransactionalPublisher, "_send_all", send_all)
        raise TIMEOUT

    monkeypatch.setattr(TransactionalPublisher, "_send_all", fail_once)
    (heir,) = start(world, 1, "successor")
    newest = world.publisher()._newest_marker(settled=True).record
    assert newest is not None
    assert newest.headers() == [("duestream-run", b"successor")]
    assert Marker.from_json(newest.value()) == flush(world.rows(b"a")).marker
    heir.close()
