"""Jobs as the bundle of conf/databricks calls them: from a wheel, in a session that is there."""

import json
import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipeline.client import Client
from pipeline.local_kafka import LocalKafka
from tests.acceptance.connect_server import ConnectServer
from tests.acceptance.lives import PATIENCE, wait_for
from tests.acceptance.wheel import build_wheel
from tests.deploy.bundle import read_bundle

# What the platform does: it has a session, finds the entry point in the installed package, sets the
# arguments and calls it; then it looks at the session again.
PLATFORM = """
import json, os, sys
from importlib.metadata import distribution
wheel, task, connect = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
sys.path.insert(0, wheel)
from pipeline.session import spark_session
import pipeline
assert pipeline.__file__.startswith(wheel), pipeline.__file__
if connect:
    from pyspark.sql import SparkSession
    spark = SparkSession.builder.remote(connect).getOrCreate()
else:
    spark = spark_session("platform", "local[2]")
spark.conf.set("spark.sql.mapKeyDedupPolicy", "EXCEPTION")  # as Spark has it
os.environ["DATABRICKS_RUNTIME_VERSION"] = "17.3"
found = distribution(task["package_name"]).entry_points
(entry,) = [each for each in found if each.name == task["entry_point"]]
sys.argv = [task["package_name"], *task["parameters"]]
entry.load()()
print("lines", spark.table("spark_catalog.default.changelog").count())
spark.stop()
"""


class Task:
    """A task of the bundle, its topics, and what came of it."""

    def __init__(self, folder: Path, servers: str, source: str, out: str) -> None:
        self.folder, self._servers, self.source, self.out = folder, servers, source, out
        self.log = folder / "task.log"

    def send(self) -> None:
        with Client(self._servers, topic=self.source) as client:
            client.schedule("x", topic=self.out, key="a", at=datetime(2020, 1, 1, tzinfo=UTC))
            client.forward(b"b", b"no event", [("twice", b"1"), ("twice", b"2")])

    @contextmanager
    def running(self, job: str, connect: str = "") -> "Iterator[subprocess.Popen[bytes]]":
        """Start it as the platform does; it does not outlive the block."""
        with zipfile.ZipFile(build_wheel(self.folder)) as wheel:
            wheel.extractall(self.folder / "site")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("DUESTREAM_", "PYTHON"))}
        called = [PLATFORM, str(self.folder / "site"), self._called(job), connect]
        with self.log.open("wb") as log:
            task = subprocess.Popen(
                [sys.executable, "-c", *called],
                cwd=self.folder,
                env=kept | {k: v for k, v in os.environ.items() if k == "DUESTREAM_CACHE"},
                stdout=log,
                stderr=log,
            )
        try:
            yield task
        finally:
            task.kill()
            task.wait()

    def _called(self, job: str) -> str:
        bundle = read_bundle(
            "prod",
            catalog="spark_catalog",
            schema="default",
            state_path=str(self.folder),
            bootstrap_servers=self._servers,
            security_protocol="PLAINTEXT",
            security_mechanism="null",
            input_topic=self.source,
            output_topics=self.out,
        )
        (task,) = bundle["resources"]["jobs"][job]["tasks"]
        wheel = task["python_wheel_task"]
        # This broker asks for no login.
        wheel["parameters"] = [word for word in wheel["parameters"] if "secret://" not in word]
        return json.dumps(wheel).replace("/Volumes/", f"{self.folder}/Volumes/")

    def has_ended_well(self, code: int) -> None:
        said = self.log.read_text(errors="replace")
        assert code == 0, said[-5000:]
        assert int(said.split("lines ")[1]) > 0  # by its name in the catalog


@pytest.fixture
def task(tmp_path: Path, broker: LocalKafka, topics: Callable[..., str]) -> Task:
    task = Task(tmp_path, broker.bootstrap_servers, topics("in"), topics("out"))
    task.send()
    return task


def test_the_scheduled_task_publishes_over_spark_connect_and_leaves_the_session_alone(
    task: Task, connect: ConnectServer, read: Callable[..., list]
) -> None:
    with task.running("duestream_once", connect.url) as process:
        task.has_ended_well(process.wait(PATIENCE))
    assert [message.value() for message in read(task.out)] == [b"x"]


def test_the_task_that_always_runs_publishes_until_it_is_told_to_stop(
    task: Task, read: Callable[..., list]
) -> None:
    with task.running("duestream") as process:
        wait_for(lambda: bool(read(task.out)) or process.poll() is not None, "the message")
        process.send_signal(signal.SIGTERM)
        task.has_ended_well(process.wait(PATIENCE))
    assert [message.value() for message in read(task.out)] == [b"x"]
