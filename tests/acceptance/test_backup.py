"""What the pages on backup and upgrade tell people to do, done to a job and its state."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka import Message
from pymongo import MongoClient

from pipeline.client import Client
from pipeline.config.load import load_settings
from pipeline.local_kafka import LocalKafka
from pipeline.login import connect
from tests.acceptance.lives import Lives, in_delta, in_mongo
from tests.conftest import Mongo

FOLDERS = ("state", "checkpoint")
BEFORE, PENDING = b"sent before", b"pending"


@dataclass(frozen=True)
class Place:
    """A folder with a job, its topics, and where a backup of it is."""

    folder: Path
    servers: str
    source: str
    out: str
    read: Callable[[str], list[Message]]

    def job(self, state: dict[str, object], folder: Path | None = None, **more: object) -> Lives:
        topics, where = (self.source, self.out), folder or self.folder
        return Lives(where, self.servers, topics, state, **more)

    def sent(self) -> list[bytes]:
        return sorted(message.value() or b"" for message in self.read(self.out))

    def backup(self) -> None:
        for name in FOLDERS:
            shutil.copytree(self.folder / name, self.folder / "backup" / name)

    def restore(self) -> None:
        for name in FOLDERS:
            shutil.rmtree(self.folder / name)
            shutil.copytree(self.folder / "backup" / name, self.folder / name)

    def delete_markers(self) -> None:
        settings = load_settings(self.folder / "duestream.yaml", environ={})
        admin, _ = connect(settings.kafka, 30)
        admin.delete_topics([settings.markers_topic])[settings.markers_topic].result(30)


@pytest.fixture
def place(
    tmp_path: Path,
    broker: LocalKafka,
    topics: Callable[..., str],
    read: Callable[[str], list[Message]],
) -> Place:
    names = topics("in"), topics("out")
    return Place(tmp_path, broker.bootstrap_servers, *names, read)


@pytest.fixture
def client(place: Place) -> Iterator[Client]:
    with Client(place.servers, topic=place.source) as opened:
        opened.schedule(BEFORE, topic=place.out, key="a", delay="0s")
        opened.schedule(PENDING, topic=place.out, key="b", delay="1h")
        yield opened


def good(job: Lives, command: str, *words: str) -> str:
    done = job.command(command, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def pending(job: Lives) -> int:
    told = json.loads(good(job, "stats", "--json"))
    assert told["difference"] == 0
    return told["ends"]["pending"]


def run_and_stop(job: Lives, condition: Callable[[], bool], ask: Callable[[], object]) -> None:
    """Start a job, ask for something once it runs, and stop it when that came about."""
    job.begin()
    try:
        job.wait_for(lambda: job.said("running;"), "the first micro-batch")
        ask()
        job.wait_for(condition, "what is due")
        assert job.stop() == 0
    finally:
        job.kill()


def test_a_job_goes_on_from_its_backup_and_not_from_one_that_knows_too_little(
    place: Place, client: Client
) -> None:
    state = in_delta(place.folder)
    job = place.job(state)
    run_and_stop(job, lambda: place.sent() == [BEFORE], lambda: None)
    good(job, "audit")
    place.backup()

    # It goes on and takes something in; then all that it wrote is lost.
    client.schedule("taken since", topic=place.out, key="c", delay="1h")
    good(job, "run", "--once")
    assert pending(job) == 2
    place.restore()
    assert pending(job) == 1

    # From the backup it reads that again. As after an upgrade: settings are checked, lanes differ.
    job = place.job(state, publish={"lanes": 3})
    good(job, "config check")
    run_and_stop(job, lambda: place.sent() == [PENDING, BEFORE], lambda: client.send_now("b"))
    assert pending(job) == 1
    good(job, "audit", "--topics")

    # The same backup once more: it does not know that b went out.
    place.restore()
    refused = job.command("run", "--once")
    assert refused.returncode == 2
    assert "it was set back" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert place.sent() == [PENDING, BEFORE]

    # The way out: go on from it, and b goes out again, since its order is read again.
    place.delete_markers()
    good(job, "run", "--once", "--set", "publish.guarantee=at_least_once")
    assert place.sent() == [PENDING, PENDING, BEFORE]
    good(job, "run", "--once")
    assert place.sent() == [PENDING, PENDING, BEFORE]
    assert pending(job) == 1


def test_without_a_backup_a_new_state_reads_everything_and_sends_again_what_is_due(
    place: Place, client: Client
) -> None:
    lost = place.job(in_delta(place.folder))
    good(lost, "run", "--once")
    beside = place.folder / "beside"
    beside.mkdir()
    fresh = place.job(in_delta(beside), beside, name=f"{place.source}-2")
    good(fresh, "run", "--once")
    assert place.sent() == [BEFORE, BEFORE]
    assert pending(fresh) == 1
    good(fresh, "audit", "--topics")


def test_a_state_in_mongodb_is_backed_up_by_a_copy_to_delta(
    place: Place, client: Client, mongo: Mongo, database: str
) -> None:
    job = place.job(in_mongo(mongo.uri, database) | in_delta(place.folder))
    good(job, "run", "--once")
    good(job, "state copy", "--from", "mongo", "--to", "delta")
    place.backup()

    server: MongoClient[dict[str, object]]
    with MongoClient(mongo.uri) as server:
        server.drop_database(database)
    place.restore()
    good(job, "state copy", "--from", "delta", "--to", "mongo")
    assert pending(job) == 1
    client.send_now("b")
    good(job, "run", "--once")
    assert place.sent() == [PENDING, BEFORE]
    good(job, "audit", "--topics")
