"""Messages of five other schedulers through one job that is killed and started again."""

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Message, TopicPartition

from pipeline.local_kafka import LocalKafka
from state.inspect import Ledger
from state.row import Status
from tests.acceptance.lives import Lives, in_delta, wait_for
from tests.acceptance.mixed import PARTITIONS, Mixture
from tests.foreign import DIALECTS, SPEAKERS, Out, Post, Wanted, partition_by, seen
from tests.reading import read_committed

EACH = 2_000
PATIENCE = 400.0
Topics = Callable[..., str]


class World:
    """The topics, the lives of the job, and what it is sent."""

    def __init__(self, folder: Path, servers: str, topics: Topics) -> None:
        broker_time = {"message_timestamp_type": "LogAppendTime"}
        self.servers = servers
        self.outs = (topics("o", PARTITIONS, **broker_time), topics("o", PARTITIONS, **broker_time))
        self.warm, self.dead = topics("warm"), topics("dead")
        inputs = {dialect: topics(dialect, partitions=2) for dialect in DIALECTS}
        sources = [{"topic": inputs[name], "dialect": name} for name in DIALECTS]
        sources[0]["output_topic"] = self.outs[0]
        self.lives = Lives(
            folder,
            servers,
            (inputs[DIALECTS[0]], self.outs[0]),
            in_delta(folder),
            sources=sources,
            outputs={"allow": [*self.outs, self.warm]},
            dead_letter={"topic": self.dead},
        )
        self.mixture = Mixture(Post(servers), inputs, self.outs, random.Random(7), EACH)

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        """Wait while the job lives; its log says why, if it does not."""

        def holds() -> bool:
            assert not self.lives.has_ended, f"the job has ended:\n{self.lives.tail()}"
            return condition()

        try:
            wait_for(holds, what, PATIENCE)
        except AssertionError as error:
            raise AssertionError(f"{error}; the log ends with:\n{self.lives.tail()}") from error

    def run(self) -> None:
        """Start the job and let it publish something, so that it knows its trade."""
        self.lives.begin()
        self.wait_for(lambda: self.lives.said("running;"), "the job")
        wanted = Wanted(self.warm, 0, b"warm", b"warm")
        key = b"warm-%d" % len(self.lives.logs)
        for dialect in DIALECTS[1:]:
            spoken = SPEAKERS[dialect](wanted)
            self.mixture.post.send(self.mixture.inputs[dialect], key, spoken, _now())
        self.mixture.post.flush()
        there = len(self.lives.logs) * len(DIALECTS[1:])
        self.wait_for(lambda: len(read_committed(self.servers, self.warm)) == there, "the first")

    def reached(self) -> int:
        """How far the output topics reach, asked without reading them."""
        consumer = Consumer({"bootstrap.servers": self.servers, "group.id": "looks"})
        places = [TopicPartition(out, n) for out in self.outs for n in range(PARTITIONS)]
        ends = [consumer.get_watermark_offsets(place, 30)[1] for place in places]
        consumer.close()
        return sum(ends)

    def messages(self) -> list[Message]:
        return [message for out in self.outs for message in read_committed(self.servers, out)]

    def ledger(self) -> Ledger:
        return self.lives.state().stats(time.time_ns() // 1000).ledger

    def standing(self) -> int:
        ends = self.ledger().ends
        return ends[Status.PENDING] + ends[Status.CLAIMED]


@pytest.fixture
def world(tmp_path: Path, broker: LocalKafka, topics: Topics) -> Iterator[World]:
    made = World(tmp_path, broker.bootstrap_servers, topics)
    yield made
    made.lives.kill()


def _now() -> int:
    return time.time_ns() // 1_000_000


@pytest.mark.timeout(1200)
def test_ten_thousand_messages_of_five_formats_come_out_once_though_the_job_is_killed(
    world: World,
) -> None:
    world.run()
    first, second = world.mixture.parts(_now() + 8_000)
    world.mixture.send(first)
    world.wait_for(lambda: world.reached() > 1_000, "some messages to be out")
    world.lives.kill()
    out_before = len(world.messages())
    assert 0 < out_before < len(world.mixture.asked), "the kill came too early or too late"
    assert world.standing() > 0, "the kill came when nothing was under way"
    world.mixture.send(second)
    world.run()
    world.wait_for(lambda: world.reached() >= len(DIALECTS) * EACH, "the messages")
    world.wait_for(lambda: world.standing() == 0, "the end of all messages")
    assert world.lives.stop() == 0, world.lives.tail()
    _judge_messages(world)
    _judge_state(world)


def _judge_messages(world: World) -> None:
    wanted = dict(world.mixture.expected())
    assert len(wanted) == len(DIALECTS) * EACH
    messages = world.messages()
    found = Counter(map(seen, messages))
    faults = {
        "lost": [out for out in wanted if out not in found],
        "twice": [out for out, times in found.items() if times > 1],
        "not as asked for": [out for out in found if out not in wanted],
        "early": [seen(m) for m in messages if _is_early(m, wanted)],
        "elsewhere": [seen(m) for m in messages if _is_elsewhere(m, wanted)],
    }
    told = {name: (len(outs), outs[:3]) for name, outs in faults.items() if outs}
    assert told == {}


def _is_early(message: Message, wanted: dict[Out, Wanted]) -> bool:
    asked = wanted.get(seen(message))
    return asked is not None and message.timestamp()[1] < asked.due


def _is_elsewhere(message: Message, wanted: dict[Out, Wanted]) -> bool:
    asked = wanted.get(seen(message))
    if asked is None or (asked.partition is None and asked.key is None):
        return False
    named = asked.partition
    return message.partition() != (
        partition_by(asked.key or b"", PARTITIONS) if named is None else named
    )


def _judge_state(world: World) -> None:
    mixture, warm = world.mixture, len(world.lives.logs) * len(DIALECTS[1:])
    done = world.lives.command("audit", "--topics", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert (told["closes"], told["difference"]) == (True, 0)
    assert told["accepted"] == mixture.accepted + warm
    assert {status: count for status, count in told["ends"].items() if count} == {
        "done": len(mixture.asked) + warm,
        "replaced": mixture.overtaken,
        "cancelled": mixture.cancelled,
    }
    assert world.ledger().rejected == mixture.garbage
    letters = read_committed(world.servers, world.dead)
    assert Counter(m.value() for m in letters) == {b"\xff garbage": mixture.garbage}
