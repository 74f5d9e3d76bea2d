"""One state, many lives: the job is killed at every boundary of the protocol and started again."""

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Message

from pipeline.client import Client
from pipeline.local_kafka import LocalKafka
from pipeline.local_mongo import LocalMongo
from state.crashpoint import Point
from tests.acceptance.book import Book
from tests.acceptance.lives import LANES, Lives, in_delta, in_mongo
from tests.conftest import Mongo

Read = Callable[[str], list[Message]]

# In this order each life begins with what the one before it left. A count of 2 passes over the
# batch that is repeated because the life before did not commit it. Claims left by a commit are
# published at the next start, before any batch: so those lives are short.
NATIVE = (
    (Point.AFTER_READ, 1),
    (Point.BEFORE_COMMIT, 2),
    (Point.DURING_COMMIT, 2),
    (Point.AFTER_COMMIT, 2),
    (Point.DURING_RECOVERY, 1),
    (Point.AFTER_RECOVERY, 1),
    (Point.IN_TRANSACTION, 1),
    (Point.AFTER_TRANSACTION, 1),
    (Point.AFTER_HAND_OVER, 1),
    (Point.AFTER_TICK, 1),
    (Point.DURING_WINDOW_LOAD, 2),
)
MONGO = (
    *(each for each in NATIVE if each[0] is not Point.DURING_WINDOW_LOAD),
    (Point.DURING_APPLY, 2),
)
FOLD = (Point.DURING_FOLD, Point.AFTER_FOLD_MERGE)
SPARK = ((Point.BEFORE_COMMIT, 2), (Point.AFTER_COMMIT, 2))


HOUR = 3600


class Story:
    """A job, its load, and what a reader sees of it."""

    def __init__(self, lives: Lives, book: Book, read: Callable[[], list[Message]]) -> None:
        self.lives = lives
        self.book = book
        self._read = read
        self._waves = 0

    def wave(self, far: bool) -> None:
        """Schedule some, replace, cancel, and schedule again what is out already."""
        book, self._waves = self.book, self._waves + 1
        for key in book.some(6, 35, HOUR):
            book.put(key, 20)
        for key in book.some(HOUR, 35, HOUR) if self._waves > 2 else []:
            book.cancel(key)
        for key in book.some(5, 5, 30):
            book.put(key, 25)
        for key in book.some(5, -100, -1):
            book.put(key, 10)
        for n in range(30):
            book.put(f"near-{self._waves}-{n}", 6 + n * 0.7)
        for n in range(3):  # from one life into the next, several in a tick
            book.repeat(f"series-{self._waves}-{n}", 5 + n, (250, 1500, 4000)[n], 12)
        for n in range(12 if far else 0):
            book.put(f"far-{self._waves}-{n}", HOUR if n % 2 else 65 + n)
        book.flush()

    def die_at(self, point: Point, count: int) -> None:
        """Live until ``point`` is reached for the ``count``-th time."""
        self.lives.begin(f"{point}:{count}")
        self.lives.dies_at(point)
        self.book.look(self.lives.state())

    def end_well(self) -> None:
        """Live until everything is settled, and see that all is as it should be."""
        self.lives.begin()
        self.lives.wait_for(lambda: self.lives.said("running;"), "the job")
        self.go_on_well()

    def go_on_well(self) -> None:
        """Let the present life come to its end, and see that all is as it should be."""
        for key in self.book.some(HOUR, 35, HOUR):
            self.book.cancel(key)
        for n in range(60):
            self.book.put(f"last-{n}", 5 + (n * 7) % 60 / 10)
        self.lives.wait_for(self._is_settled, "the end of all messages")
        assert self.lives.stop() == 0, self.lives.tail()
        findings = self.book.audit(self._read(), self.lives.state(), LANES)
        assert findings.faults() == {}
        assert findings.withdrawn > 0

    def _is_settled(self) -> bool:
        assert not self.lives.has_ended, self.lives.tail()
        self.book.look(self.lives.state())
        return self.book.is_settled(self.lives.state())


@contextmanager
def story(
    folder: Path,
    servers: str,
    topics: Callable[..., str],
    read: Read,
    state: Mapping[str, object],
) -> Iterator[Story]:
    source = topics("in", 2, message_timestamp_type="LogAppendTime")
    out = topics("out", 2, message_timestamp_type="LogAppendTime")
    lives = Lives(folder, servers, (source, out), state)
    with Client(servers, topic=source) as client:
        try:
            yield Story(lives, Book(client, out, random.Random(7)), lambda: read(out))
        finally:
            lives.kill()


@pytest.mark.timeout(1800)  # fourteen starts; on a busy machine each takes most of a minute
def test_a_death_at_any_boundary_loses_nothing_and_repeats_nothing(
    tmp_path: Path,
    broker: LocalKafka,
    topics: Callable[..., str],
    read: Read,
) -> None:
    state = in_delta(tmp_path, fold_rows=100)
    with story(tmp_path, broker.bootstrap_servers, topics, read, state) as told:
        for number, (point, count) in enumerate(NATIVE):
            told.wave(far=number < 6)
            told.die_at(point, count)
        for point in FOLD:
            told.wave(far=False)
            told.lives.begin(point)
            told.lives.wait_for(
                lambda: told.lives.said("its process ended with code -9"), f"{point}"
            )
            told.lives.kill()
        told.end_well()


@pytest.mark.timeout(1800)
def test_a_death_around_a_commit_through_spark_loses_nothing_and_repeats_nothing(
    tmp_path: Path,
    broker: LocalKafka,
    topics: Callable[..., str],
    read: Read,
) -> None:
    state = in_delta(tmp_path, writer="spark")
    with story(tmp_path, broker.bootstrap_servers, topics, read, state) as told:
        for point, count in SPARK:
            told.wave(far=True)
            told.die_at(point, count)
        told.end_well()


@pytest.mark.timeout(1800)
def test_a_death_at_any_boundary_loses_nothing_and_repeats_nothing_in_mongodb(
    tmp_path: Path,
    broker: LocalKafka,
    topics: Callable[..., str],
    read: Read,
    mongo: Mongo,
    database: str,
) -> None:
    state = in_mongo(mongo.uri, database, batch_rows=10)
    with story(tmp_path, broker.bootstrap_servers, topics, read, state) as told:
        for number, (point, count) in enumerate(MONGO):
            told.wave(far=number < 6)
            told.die_at(point, count)
        told.end_well()


@pytest.mark.timeout(1800)
def test_a_database_killed_and_frozen_under_the_job_costs_time_and_nothing_else(
    tmp_path: Path,
    broker: LocalKafka,
    topics: Callable[..., str],
    read: Read,
) -> None:
    with LocalMongo() as server:
        state = in_mongo(server.uri, "duestream", timeout="2s")
        with story(tmp_path, broker.bootstrap_servers, topics, read, state) as told:
            told.lives.begin()
            told.lives.wait_for(lambda: told.lives.said("running;"), "the job")
            for away, back in ((server.kill, server.start), (server.freeze, server.thaw)):
                told.wave(far=True)
                told.lives.forget()
                away()
                told.lives.wait_for(lambda: told.lives.said("MongoDB at"), "the word of it")
                back()
                told.lives.wait_for(
                    lambda: told.lives.said("MongoDB is back after"), "the end of it"
                )
            told.go_on_well()


@pytest.mark.parametrize("point", Point)
def test_every_boundary_has_its_death(point: Point) -> None:
    assert point in {each for each, _ in (*NATIVE, *MONGO)} | set(FOLD)
