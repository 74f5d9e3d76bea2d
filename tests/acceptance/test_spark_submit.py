"""The job on a Spark cluster: submitted as a wheel, working on executors that have none of it."""

import io
import json
import os
import shlex
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import psutil
import yaml
from confluent_kafka import Consumer, Message, Producer, TopicPartition
from fastavro import schemaless_writer

from pipeline.config.load import load_settings
from pipeline.ivy import proxy_flags
from pipeline.jvm import cache_folder
from pipeline.local_kafka import LocalKafka
from state.inspector import Ledger
from state.open import open_inspector
from state.row import Status
from tests.acceptance.lives import wait_for
from tests.acceptance.standalone import (
    SPARK_HOME,
    Cluster,
    python_without_duestream,
    submit_environment,
)
from tests.acceptance.wheel import ROOT, build_wheel
from tests.pages import blocks, commands

COUNT = 40
BACKLOG = 30_000  # seconds of work: time to kill somebody in the middle
PAGE = ROOT / "docs/deploy/spark-submit.md"
EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
QUIET = f"-Dlog4j2.configurationFile={(ROOT / 'pipeline' / 'spark-log.properties').as_uri()}"
LIGHT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # five JVMs share few cores
ENDED_BY_SIGTERM = 128 + signal.SIGTERM  # what a JVM returns then, however cleanly it ended
KMS = {
    "type": "record",
    "name": "Schedule",
    "fields": [
        {"name": "time", "type": "long"},
        {"name": "topic", "type": "string"},
        {"name": "key", "type": "bytes"},
        {"name": "value", "type": ["null", "bytes"]},
    ],
}


def test_a_submitted_wheel_decodes_and_publishes_on_two_executors_and_stops_when_told(
    tmp_path: Path, broker: LocalKafka, topics: Callable[..., str], read: Callable[..., list]
) -> None:
    source, out, late = topics("in", partitions=2), topics("out"), topics("late")
    servers = broker.bootstrap_servers
    settings = write_settings(tmp_path, servers, source, [out, late])
    log = tmp_path / "submit.log"
    with Cluster(tmp_path) as cluster:
        job = submit(tmp_path, cluster.url, build_wheel(tmp_path), settings, log)
        try:
            wait_for(lambda: "running;" in log.read_text() or job.poll() is not None, "the job")
            assert job.poll() is None, log.read_text()[-5000:]
            due = int(time.time() * 1000) + 3_000
            send_schedules(servers, source, out, COUNT, due)
            wait_for(lambda: len(read(out)) >= COUNT or job.poll() is not None, "the messages")
            (application,) = cluster.page("master")["activeapps"]
            executors = cluster.page("worker")["executors"]
            # Due within a moment that is past when the batch has them: many transactions a lane.
            late_due = int(time.time() * 1000)
            send_schedules(servers, source, late, BACKLOG, late_due, spread=500)
            kill_an_executor_amid(servers, late, application["id"])
            wait_for(lambda: ended_well(settings) == COUNT + BACKLOG, "the backlog")
            job.send_signal(signal.SIGTERM)
            ended = job.wait(120)
        finally:
            job.kill()
            job.wait()
    assert ended == ENDED_BY_SIGTERM, log.read_text()[-5000:]
    assert "stopped; everything is in the state" in log.read_text()
    assert "executors took" in log.read_text()
    assert application["name"] == source
    assert len(executors) == 2
    options = {"-Duser.timezone=UTC", *LIGHT.split()}  # ours, and those given to spark-submit
    assert options <= java_of_an_executor(tmp_path)
    assert {"0", "1"} <= set(tasks_by_executor(tmp_path / "events"))
    check_output(read(out), due, COUNT)
    check_output(read(late), late_due, BACKLOG)
    check_state(settings, COUNT + BACKLOG)


def write_settings(folder: Path, servers: str, source: str, out: list[str]) -> Path:
    file = folder / "duestream.yaml"
    file.write_text(
        yaml.safe_dump(
            {
                "name": source,
                "kafka": {"bootstrap_servers": servers},
                "sources": [{"topic": source, "dialect": "kms-avro"}],
                "outputs": {"allow": out},
                "publish": {"executors_above": BACKLOG // 2},
                "dead_letter": {"topic": f"{source}.dead"},
                "pipeline": {"checkpoint": (folder / "checkpoint").as_uri()},
                "state": {"delta": {"path": str(folder / "state")}},
            }
        )
    )
    return file


def submit(
    folder: Path, master: str, wheel: Path, settings: Path, log: Path
) -> "subprocess.Popen[bytes]":
    (folder / "events").mkdir()
    options = {
        "spark.jars.ivy": str(cache_folder() / "spark-submit"),  # fetched once
        "spark.cores.max": "2",
        "spark.executor.cores": "1",
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": LIGHT,
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",  # begin when both are there
        "spark.ui.enabled": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (folder / "events").as_uri(),
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
    }
    program, *words = command_of_the_page(master, wheel, settings)
    more = [word for name, value in options.items() for word in ("--conf", f"{name}={value}")]
    environment = submit_environment(python_without_duestream(folder))
    with log.open("wb") as output:
        return subprocess.Popen(
            [program, *more, *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            cwd=folder,
        )


def command_of_the_page(master: str, wheel: Path, settings: Path) -> list[str]:
    """Return the words of the first spark-submit on the page, with what is of this machine."""
    told = [line for block in blocks(PAGE) for line in commands(block.text)]
    command = next(line for line in told if line.startswith("spark-submit "))
    proxy = " ".join(proxy_flags(os.environ))
    ours = {
        "spark-submit": str(SPARK_HOME / "bin" / "spark-submit"),
        "spark://host:7077": master,
        "dist/duestream-0.1.0-py3-none-any.whl": str(wheel),
        "-Duser.timezone=UTC": f"-Duser.timezone=UTC {QUIET} {LIGHT} {proxy}",
        "spark.jars.ivySettings=conf/spark-submit/ivysettings.xml": (
            f"spark.jars.ivySettings={ROOT / 'conf/spark-submit/ivysettings.xml'}"
        ),
        "conf/spark-submit/job.py": str(ROOT / "conf/spark-submit/job.py"),
        "duestream.yaml": str(settings),
    }
    words = shlex.split(command)
    assert ours.keys() <= set(words), words
    return [ours.get(word, word) for word in words]


def send_schedules(
    servers: str, source: str, out: str, count: int, due: int, spread: int = 0
) -> None:
    """Send them in one transaction, so that one micro-batch takes all."""
    producer = Producer({"bootstrap.servers": servers, "transactional.id": f"sends-{out}"})
    producer.init_transactions(60)
    producer.begin_transaction()
    for n in range(count):
        name = str(n).encode()
        at = due + n * spread // count
        said = {"time": at, "topic": out, "key": b"key-" + name, "value": b"value-" + name}
        value = io.BytesIO()
        schemaless_writer(value, KMS, said)
        producer.produce(source, key=f"{out}-{n}".encode(), value=value.getvalue(), partition=n % 2)
    producer.commit_transaction(60)


def kill_an_executor_amid(servers: str, topic: str, application: str) -> None:
    """Kill an executor with -9 when a part of the messages is on the topic."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "looks"})

    def there() -> int:
        return consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=30)[1]

    wait_for(lambda: there() > BACKLOG // 4, "executors to publish", every=0.01)
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if EXECUTOR in words and application in words:
            process.kill()
            break
    assert there() < BACKLOG
    consumer.close()


def tasks_by_executor(folder: Path) -> Counter[str]:
    """Count the tasks that ended well, by executor, from what Spark writes down of a run."""
    (events,) = folder.iterdir()
    lines = [json.loads(line) for line in events.read_text().splitlines()]
    ended = [line for line in lines if line["Event"] == "SparkListenerTaskEnd"]
    return Counter(
        line["Task Info"]["Executor ID"]
        for line in ended
        if line["Task End Reason"]["Reason"] == "Success"
    )


def java_of_an_executor(folder: Path) -> set[str]:
    """Return the words with which the worker has started an executor, from its log."""
    lines = (folder / "worker.log").read_text().splitlines()
    return set(shlex.split(next(line for line in lines if "Launch command: " in line)))


def check_output(messages: list[Message], due: int, count: int) -> None:
    found = {message.key(): message.value() for message in messages}
    assert found == {f"key-{n}".encode(): f"value-{n}".encode() for n in range(count)}
    assert len(messages) == count
    assert min(message.timestamp()[1] for message in messages) >= due


def check_state(settings: Path, count: int) -> None:
    ledger = ledger_of(settings)
    assert ledger.difference == 0
    assert ledger.accepted == ledger.ends[Status.DONE] == count


def ended_well(settings: Path) -> int:
    return ledger_of(settings).ends.get(Status.DONE, 0)


def ledger_of(settings: Path) -> Ledger:
    return open_inspector(load_settings(settings, environ={}).state).stats(0).ledger
