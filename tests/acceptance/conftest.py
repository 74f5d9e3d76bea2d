"""What tests of whole jobs share: the classes of Spark, kept so that later jobs start sooner."""

import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from pipeline.client import Client
from pipeline.local_kafka import LocalKafka
from tests.acceptance.connect_server import ConnectServer
from tests.acceptance.lives import Lives, in_delta

_SILENT = "-Xlog:disable -Xlog:all=error:stderr"


@pytest.fixture(scope="session")
def connect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectServer]:
    """Serve Spark Connect to all tests; one that kills the server starts its own."""
    with ConnectServer(tmp_path_factory.mktemp("connect")) as server:
        yield server


@pytest.fixture(scope="session")
def quick_start(
    broker: LocalKafka, topics: Callable[..., str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, object]:
    """Settings of Spark with which a job starts at two thirds of the cost.

    A first job leaves an archive of the classes it has loaded. Java takes it where it fits and does
    without where not; what a job does is the same.
    """
    folder = tmp_path_factory.mktemp("classes")
    archive = folder / "spark.jsa"
    source, out = topics("in"), topics("out")
    leave = _java(f"-XX:ArchiveClassesAtExit={archive}")
    job = Lives(folder, broker.bootstrap_servers, (source, out), in_delta(folder), spark=leave)
    with Client(broker.bootstrap_servers, topic=source) as client:
        client.schedule("x", topic=out, key="k", at=datetime(2001, 1, 1, tzinfo=UTC))
    # Java writes the archive after the job is gone; the output is read until Java ends.
    ended = job.command("run", "--once")
    assert ended.returncode == 0, ended.stderr
    if not archive.exists():
        sys.stderr.write("this Java keeps no classes: jobs start as slowly as ever\n")
        return {}
    return _java(f"-XX:SharedArchiveFile={archive}")


def _java(option: str) -> dict[str, object]:
    return {"options": {"spark.driver.extraJavaOptions": f"{option} {_SILENT}"}}
