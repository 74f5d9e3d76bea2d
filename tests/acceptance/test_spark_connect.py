"""``run --once`` in a session of Spark Connect: what is due goes out once, whoever is killed."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from confluent_kafka import Message

from pipeline.client import Client
from pipeline.local_kafka import LocalKafka
from state.crashpoint import Point, StagedPoint
from state.row import Status
from tests.acceptance.connect_server import ConnectServer
from tests.acceptance.lives import Lives, in_delta, in_mongo

Read = Callable[[str], list[Message]]

PAST = datetime(2020, 1, 1, tzinfo=UTC)
# Each life begins with what the one before it left.
POINTS = (
    StagedPoint.AFTER_STAGING,
    Point.AFTER_READ,
    Point.AFTER_COMMIT,
    Point.IN_TRANSACTION,
    Point.AFTER_TRANSACTION,
    StagedPoint.BEFORE_CLEARING,
    StagedPoint.AFTER_STAGING,
)


class World:
    """The topics of one job, its lives, and what was sent to it and came out."""

    def __init__(
        self, broker: LocalKafka, topics: Callable[..., str], read: Read, folder: Path
    ) -> None:
        self.source, self.out = topics("in"), topics("out")
        self._servers = broker.bootstrap_servers
        self._read = read
        self.folder = folder
        self.checkpoint = folder / "checkpoint"
        self.lives = self.with_state(in_delta(folder))
        self.sent: list[bytes] = []

    def with_state(self, state: dict[str, object]) -> Lives:
        self.lives = Lives(self.folder, self._servers, (self.source, self.out), state)
        return self.lives

    def with_small_batches(self) -> None:
        """Have two records a batch; the checkpoint lies where a name looks like that of a batch."""
        self.checkpoint = self.folder / "batch=3" / "checkpoint"
        stream = {"checkpoint": str(self.checkpoint), "max_offsets_per_trigger": 2}
        topics, state = (self.source, self.out), in_delta(self.folder)
        self.lives = Lives(self.folder, self._servers, topics, state, pipeline=stream)

    def batches_done(self) -> int:
        return sum(not file.name.startswith(".") for file in self.checkpoint.glob("commits/*"))

    def client(self) -> Client:
        return Client(self._servers, topic=self.source)

    def schedule_some(self) -> None:
        """Schedule messages that are overdue, under new keys."""
        with self.client() as client:
            for _ in range(5):
                self.sent.append(f"message {len(self.sent)}".encode())
                client.schedule(self.sent[-1], topic=self.out, key=str(len(self.sent)), at=PAST)

    def runs(self) -> None:
        """Run the job once, to its good end."""
        ended = self.lives.command("run", "--once")
        assert ended.returncode == 0, ended.stderr[-5000:]

    def published(self) -> list[bytes | None]:
        return [message.value() for message in self._read(self.out)]

    def dead(self) -> list[bytes | None]:
        return [message.value() for message in self._read(f"{self.source}.dead")]

    def all_is_out_once(self) -> None:
        assert sorted(map(bytes, self.published())) == sorted(self.sent)
        ledger = self.lives.state().stats(0).ledger
        assert ledger.difference == 0
        assert ledger.ends[Status.DONE] == len(self.sent)


@pytest.fixture
def world(broker: LocalKafka, topics: Callable[..., str], read: Read, tmp_path: Path) -> World:
    return World(broker, topics, read, tmp_path)


@pytest.fixture
def remote(connect: ConnectServer, monkeypatch: pytest.MonkeyPatch) -> ConnectServer:
    """Have jobs run over Spark Connect."""
    monkeypatch.setenv("SPARK_REMOTE", connect.url)
    return connect


@pytest.mark.usefixtures("remote")
@pytest.mark.parametrize("kind", ["delta", "mongo"])
def test_what_is_due_goes_out_and_the_rest_waits_for_a_later_run(
    world: World, kind: str, request: pytest.FixtureRequest
) -> None:
    if kind == "mongo":
        uri = request.getfixturevalue("mongo").uri
        world.with_state(in_mongo(uri, request.getfixturevalue("database")))
    world.schedule_some()
    with world.client() as client:
        client.schedule("later", topic=world.out, key="later", delay=timedelta(hours=1))
        client.forward(b"b", b"no event", [("twice", b"1"), ("twice", b"2")])
    world.runs()
    assert sorted(map(bytes, world.published())) == sorted(world.sent)
    assert world.dead() == [b"no event"]
    assert world.lives.state().stats(0).ledger.ends[Status.PENDING] == 1
    with world.client() as client:
        client.reschedule("later", delay="0s")
    world.runs()
    world.sent.append(b"later")
    world.all_is_out_once()


@pytest.mark.timeout(1800)  # nine starts
@pytest.mark.usefixtures("remote")
def test_a_job_that_is_killed_anywhere_loses_nothing_and_sends_nothing_twice(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for point in POINTS:
        world.schedule_some()
        world.lives.begin(point, "--once")
        world.lives.dies_at(point)
    monkeypatch.delenv("SPARK_REMOTE")  # what was left is taken by a job with its own driver too
    world.runs()
    world.all_is_out_once()


@pytest.mark.usefixtures("remote")
@pytest.mark.parametrize("then", ["Spark Connect", "its own driver"])
def test_a_query_that_outlives_its_job_loses_nothing(
    world: World, then: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.with_small_batches()
    for _ in range(8):
        world.schedule_some()
    world.lives.begin("", "--once")
    world.lives.wait_for(lambda: world.batches_done() >= 2, "some batches")
    world.lives.kill()
    done = world.batches_done()
    world.lives.wait_for(lambda: world.batches_done() > done, "the query to go on by itself")
    if then == "its own driver":
        monkeypatch.delenv("SPARK_REMOTE")
    for _ in range(5):  # a job that is overtaken by the query says so, and is started again
        ended = world.lives.command("run", "--once")
        assert "Traceback" not in ended.stderr
        if ended.returncode == 0:
            break
    assert ended.returncode == 0, ended.stderr[-5000:]
    world.all_is_out_once()


def test_a_batch_whose_worker_is_killed_comes_again(world: World, remote: ConnectServer) -> None:
    world.schedule_some()
    remote.dies_after_the_next_batch("worker")
    ended = world.lives.command("run", "--once")
    assert remote.has_died
    assert ended.returncode == 2, ended.stderr[-5000:]
    assert "the query ended: " in ended.stderr
    assert "Traceback" not in ended.stderr
    assert world.published() == []
    world.schedule_some()
    world.runs()
    world.all_is_out_once()


def test_a_server_that_is_killed_leaves_its_batch_to_the_next(
    world: World, connect: ConnectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.schedule_some()
    with ConnectServer(tmp_path) as server:
        monkeypatch.setenv("SPARK_REMOTE", server.url)
        server.dies_after_the_next_batch("server")
        world.lives.begin("", "--once")
        world.lives.wait_for(lambda: server.has_died, "the server to die")
        world.lives.kill()  # it would look for its server for ten minutes
    world.schedule_some()
    monkeypatch.setenv("SPARK_REMOTE", connect.url)
    world.runs()
    world.all_is_out_once()


@pytest.mark.usefixtures("remote")
def test_a_job_that_keeps_running_is_refused_with_the_way_out(world: World) -> None:
    ended = world.lives.command("run")
    assert ended.returncode == 2
    assert "Spark Connect" in ended.stderr
    assert "run it with --once" in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1, ended.stderr


@pytest.mark.usefixtures("remote")
def test_a_writer_that_needs_a_driver_here_is_refused(world: World, tmp_path: Path) -> None:
    world.with_state(in_delta(tmp_path, writer="spark"))
    ended = world.lives.command("run", "--once")
    assert ended.returncode == 2
    assert "state.delta.writer is spark" in ended.stderr
