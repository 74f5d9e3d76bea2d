"""The job as the bundle of conf/databricks calls it: from a wheel, in a session that is there."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from pipeline.client import Client
from pipeline.local_kafka import LocalKafka
from tests.acceptance.wheel import build_wheel
from tests.deploy.bundle import read_bundle

# What the platform does: it has a session, finds the entry point in the installed package, sets the
# arguments and calls it; then it looks at the session again.
PLATFORM = """
import json, os, sys
from importlib.metadata import distribution
wheel, task = sys.argv[1], json.loads(sys.argv[2])
sys.path.insert(0, wheel)
from pipeline.session import spark_session
import pipeline
assert pipeline.__file__.startswith(wheel), pipeline.__file__
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


def test_the_task_of_the_bundle_publishes_and_leaves_the_session_alone(
    tmp_path: Path, broker: LocalKafka, topics: Callable[..., str], read: Callable[..., list]
) -> None:
    source, out = topics("in"), topics("out")
    with Client(broker.bootstrap_servers, topic=source) as client:
        client.schedule("x", topic=out, key="a", at=datetime(2020, 1, 1, tzinfo=UTC))
        client.forward(b"b", b"no event", [("twice", b"1"), ("twice", b"2")])
    done = run_task(tmp_path, broker.bootstrap_servers, source, out)
    assert done.returncode == 0, done.stderr[-5000:]
    assert int(done.stdout.split("lines ")[1]) > 0  # by its name in the catalog
    assert [message.value() for message in read(out)] == [b"x"]


def run_task(
    folder: Path, servers: str, source: str, out: str
) -> "subprocess.CompletedProcess[str]":
    bundle = read_bundle(
        "prod",
        catalog="spark_catalog",
        schema="default",
        state_path=str(folder),
        bootstrap_servers=servers,
        security_protocol="PLAINTEXT",
        security_mechanism="null",
        input_topic=source,
        output_topics=out,
    )
    (task,) = bundle["resources"]["jobs"]["duestream_once"]["tasks"]
    called = json.dumps(task["python_wheel_task"]).replace("/Volumes/", f"{folder}/Volumes/")
    with zipfile.ZipFile(build_wheel(folder)) as wheel:
        wheel.extractall(folder / "site")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DUESTREAM_", "PYTHON"))}
    return subprocess.run(
        [sys.executable, "-c", PLATFORM, str(folder / "site"), called],
        cwd=folder,
        env=kept | {k: v for k, v in os.environ.items() if k == "DUESTREAM_CACHE"},
        capture_output=True,
        text=True,
        timeout=300,
    )
