"""The local MongoDB serves, comes back, and never outlives the process that started it."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from pymongo import MongoClient, WriteConcern
from pymongo.errors import NetworkTimeout

from pipeline import local_mongo
from pipeline.local_mongo import LocalMongo
from state.errors import SetupError
from tests.conftest import Mongo

Client = MongoClient[dict[str, Any]]


@pytest.fixture(scope="module")
def own() -> Iterator[LocalMongo]:
    """Serve an engine that the tests of this file may kill and freeze."""
    with LocalMongo() as served:
        yield served


def acknowledge(mongo: LocalMongo, name: str, count: int) -> None:
    client: Client
    with MongoClient(mongo.uri) as client:
        # One node is its own majority. Asked for it by that name, the embedded engine now and then
        # answers before its journal is on disk; asked like this it never does.
        safe = WriteConcern(w=1, j=True)
        rows = client.test.get_collection(name, write_concern=safe)
        assert len(rows.insert_many([{"_id": n} for n in range(count)]).inserted_ids) == count


def count(mongo: LocalMongo, name: str) -> int:
    client: Client
    with MongoClient(mongo.uri) as client:
        return client.test[name].count_documents({})


def test_what_is_written_is_read(mongo: Mongo, database: str) -> None:
    client: Client
    with MongoClient(mongo.uri) as client:
        client[database].rows.insert_one({"_id": 1, "word": "here"})
        assert client[database].rows.find_one() == {"_id": 1, "word": "here"}


def test_a_killed_engine_comes_back_with_what_it_acknowledged(own: LocalMongo) -> None:
    uri = own.uri
    engine = psutil.Process(own.pid)
    acknowledge(own, "killed", 500)
    own.kill()
    assert own.pid is None
    assert not engine.is_running()
    own.start()
    assert own.uri == uri
    assert count(own, "killed") == 500


def test_the_other_engine_comes_back_with_what_it_acknowledged() -> None:
    with LocalMongo(engine="secantus") as mongo:
        acknowledge(mongo, "killed", 500)
        mongo.kill()
        mongo.start()
        assert count(mongo, "killed") == 500


def test_a_stopped_engine_comes_back_with_its_data(own: LocalMongo) -> None:
    acknowledge(own, "stopped", 5)
    own.stop()
    assert own.pid is None
    own.start()
    assert count(own, "stopped") == 5


def test_a_frozen_engine_answers_when_it_is_thawed(own: LocalMongo) -> None:
    acknowledge(own, "frozen", 5)
    client: Client
    with MongoClient(own.uri, socketTimeoutMS=200, retryReads=False) as client:
        client.admin.command("ping")
        own.freeze()
        with pytest.raises(NetworkTimeout):
            client.admin.command("ping")
        own.thaw()
    assert count(own, "frozen") == 5


def test_a_frozen_engine_can_be_stopped(own: LocalMongo) -> None:
    own.freeze()
    own.stop()
    with pytest.raises(SetupError, match="does not run; start it first"):
        own.thaw()
    own.start()


def test_a_folder_that_is_served_already_is_refused_and_goes_on(
    own: LocalMongo, tmp_path: Path
) -> None:
    shared = tmp_path / "shared"
    shared.symlink_to(own.data, target_is_directory=True)
    with pytest.raises(SetupError, match=r"(?s)did not start; choose another folder.*its log"):
        LocalMongo(shared).start()
    acknowledge(own, "shared", 5)


def test_a_temporary_folder_is_removed() -> None:
    with LocalMongo() as mongo:
        folder = mongo.data
        assert folder.is_dir()
    assert not folder.exists()


def test_a_port_that_is_taken_is_told_with_the_way_out() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        mongo = LocalMongo(port=taken.getsockname()[1])
        with pytest.raises(
            SetupError, match=r"port \d+ on 127\.0\.0\.1 is in use; stop what listens"
        ):
            mongo.start()
        mongo.close()
        assert not mongo.data.exists()


def test_a_free_port_that_is_taken_in_the_meantime_is_left_for_another(
    own: LocalMongo, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = int(own.uri.split(":")[2].partition("/")[0])
    ports = iter([taken, local_mongo.free_port()])
    monkeypatch.setattr(local_mongo, "free_port", lambda: next(ports))
    with LocalMongo() as mongo:
        assert mongo.uri != own.uri
        acknowledge(mongo, "elsewhere", 5)


PARENT = """
import sys, time
from pipeline.local_mongo import LocalMongo
mongo = LocalMongo().start()
print(mongo.pid, mongo.data, flush=True)
time.sleep(600)
"""


def test_an_engine_does_not_outlive_a_parent_that_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as it:
        assert it.stdout is not None
        pid, folder = it.stdout.readline().split()
        engine = psutil.Process(int(pid))
        leash = engine.parent()
        assert leash is not None
        it.kill()
    gone, alive = psutil.wait_procs([engine, leash], timeout=60)
    assert not alive
    assert len(gone) == 2
    assert not Path(folder).exists()


RUN = [sys.executable, "-m", "pipeline.cli.main", "mongo"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_engine_in_the_foreground_ends_cleanly(tmp_path: Path, number: int) -> None:
    port = str(local_mongo.free_port())
    command = [*RUN, "--data", str(tmp_path), "--port", port]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as it:
        assert it.stdout is not None
        assert it.stderr is not None
        assert it.stdout.readline() == f"mongodb://127.0.0.1:{port}/?directConnection=true\n"
        running = psutil.Process(it.pid).children(recursive=True)
        it.send_signal(number)
        assert it.wait(60) == 0
        assert "SSPL-1.0" in it.stderr.read()
        assert not [process for process in running if process.is_running()]
    assert not list((tmp_path / "embedded" / "run").iterdir())  # a killed one leaves its socket
