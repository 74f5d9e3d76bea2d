"""The job as its users run it: a process, started and killed, looked into with the command line."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest
import yaml
from confluent_kafka import Consumer, Message, TopicPartition

from pipeline.client import Client
from pipeline.local_kafka import LocalKafka

PATIENCE = 240.0
Read = Callable[[str], list[Message]]


class Cli:
    """The command ``duestream`` with one settings file."""

    def __init__(self, folder: Path, servers: str, topics: Callable[..., str]) -> None:
        self.input, self.out, self.dead = topics("in", 2), topics("out", 2), topics("dead")
        self.warm = topics("warm")
        self.folder = folder
        self.settings = folder / "duestream.yaml"
        self.servers = servers
        self.settings.write_text(
            yaml.safe_dump(
                {
                    "name": self.input,
                    "kafka": {"bootstrap_servers": servers},
                    "sources": [{"topic": self.input}],
                    "outputs": {"allow": [self.out, self.warm]},
                    "dead_letter": {"topic": self.dead},
                    "pipeline": {"checkpoint": str(folder / "checkpoint")},
                    "state": {"delta": {"path": str(folder / "state")}},
                }
            )
        )
        self.running: list[subprocess.Popen[bytes]] = []

    def __call__(self, *words: str, stdin: str = "") -> str:
        """Run a command to its end and return what it printed."""
        done = self.run(*words, stdin=stdin)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        command = self._command(*words)
        return subprocess.run(
            command, input=stdin, capture_output=True, text=True, timeout=PATIENCE, env=_clean()
        )

    def start_job(self, *flags: str) -> subprocess.Popen[bytes]:
        """Start ``duestream run`` and wait until it ticks."""
        log = self.folder / f"job-{len(self.running)}.log"
        options = [word for flag in flags for word in ("--set", flag)]
        with log.open("wb") as file:
            job = subprocess.Popen(
                self._command("run", *options),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                env=_clean(),
            )
        self.running.append(job)
        wait_for(lambda: b"running;" in log.read_bytes() or job.poll() is not None, "the job")
        assert job.poll() is None, log.read_text()
        return job

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        """Wait while the job that was started last runs; if it ends or takes too long, say why."""
        newest = len(self.running) - 1

        def is_so() -> bool:
            assert self.running[newest].poll() is None, self.log(newest)
            return condition()

        try:
            wait_for(is_so, what)
        except AssertionError as gave_up:
            raise AssertionError(f"{gave_up}; the job said:\n{self.log(newest)}") from None

    def log(self, number: int) -> str:
        """What the job started as the ``number``-th said."""
        return (self.folder / f"job-{number}.log").read_text(errors="replace")

    def stats(self) -> dict:
        return json.loads(self("stats", "--json"))

    def _command(self, *words: str) -> list[str]:
        name, *rest = words
        return [
            sys.executable,
            "-m",
            "pipeline.cli.main",
            name,
            "--config",
            str(self.settings),
            *rest,
        ]


def _clean() -> dict[str, str]:
    kept = {"DUESTREAM_CACHE"}
    return {k: v for k, v in os.environ.items() if not k.startswith("DUESTREAM_") or k in kept}


def wait_for(condition: Callable[[], bool], what: str) -> None:
    give_up = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < give_up, f"gave up waiting for {what}"
        time.sleep(0.3)


@pytest.fixture
def cli(tmp_path: Path, broker: LocalKafka, topics: Callable[..., str]) -> Iterator[Cli]:
    made = Cli(tmp_path, broker.bootstrap_servers, topics)
    yield made
    for job in made.running:
        if job.poll() is None:
            job.kill()
        job.wait()


APART = timedelta(milliseconds=5)


def some_are_out(cli: Cli, read: Read) -> datetime:
    """Schedule 4,000 messages of a job that is warm, return the first instant once some are out."""
    cli("schedule", "warm", "--topic", cli.warm, "--key", "warm", "--in", "0s")
    wait_for(lambda: len(read(cli.warm)) == 1, "the job to be warm")
    due = datetime.now(UTC) + timedelta(seconds=10)
    with Client(cli.servers, topic=cli.input) as client:
        for n in range(4_000):
            client.schedule(str(n), topic=cli.out, key=f"key-{n}", at=due + n * APART, wait=False)
    wait_for(lambda: _records(cli) > 500, "some messages to be out")
    return due


def _records(cli: Cli) -> int:
    """How far the output topic reaches, asked without reading it: a slow look would miss it all."""
    consumer = Consumer({"bootstrap.servers": cli.servers, "group.id": "looks"})
    ends = [consumer.get_watermark_offsets(TopicPartition(cli.out, n), 30)[1] for n in range(2)]
    consumer.close()
    return sum(ends)


def test_a_job_killed_while_it_publishes_loses_nothing_and_repeats_nothing(
    cli: Cli, read: Read
) -> None:
    job = cli.start_job()
    due = some_are_out(cli, read)
    job.send_signal(signal.SIGKILL)
    job.wait()
    out_before = len(read(cli.out))
    job = cli.start_job()
    cli.wait_for(lambda: len({m.value() for m in read(cli.out)}) == 4_000, "the rest")
    cli.wait_for(lambda: cli.stats()["ends"]["done"] == 4_001, "the state to know")
    job.send_signal(signal.SIGTERM)
    assert job.wait(PATIENCE) == 0
    messages = read(cli.out)
    assert 0 < out_before < 4_000, "the kill came too early or too late to show anything"
    assert len(messages) == 4_000
    early = [m for m in messages if m.timestamp()[1] < _due_ms(due, m)]
    assert early == []
    ledger = cli.stats()
    assert (ledger["accepted"], ledger["difference"]) == (4_001, 0)


def test_a_job_frozen_in_mid_flight_wakes_up_to_a_successor_and_publishes_nothing(
    cli: Cli, read: Read
) -> None:
    frozen = cli.start_job("publish.transaction_timeout=5s")
    some_are_out(cli, read)
    parts = [psutil.Process(frozen.pid), *psutil.Process(frozen.pid).children(recursive=True)]
    for part in parts:
        part.suspend()
    out_before = len(read(cli.out))
    successor = cli.start_job("publish.transaction_timeout=5s")
    for part in parts:
        part.resume()
    assert frozen.wait(PATIENCE) == 2, cli.log(0)
    assert "Traceback" not in cli.log(0)
    cli.wait_for(lambda: len({m.value() for m in read(cli.out)}) == 4_000, "the rest")
    successor.send_signal(signal.SIGTERM)
    assert successor.wait(PATIENCE) == 0, cli.log(1)
    assert 0 < out_before < 4_000, "the freeze came too early or too late to show anything"
    assert len(read(cli.out)) == 4_000
    ledger = cli.stats()
    assert (ledger["ends"]["done"], ledger["difference"]) == (4_001, 0)


def _due_ms(first: datetime, message: Message) -> float:
    return (first + int(message.value() or b"") * APART).timestamp() * 1000 - 1


def test_the_commands_show_what_the_job_does(cli: Cli, read: Read) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = f"metrics.port={free.getsockname()[1]}"
    job = cli.start_job(port, "log.format=json")
    lines = [json.loads(line) for line in cli.log(0).splitlines() if line.startswith("{")]
    [told] = [line for line in lines if line["message"].startswith("running; ")]
    assert (told["level"], told["logger"]) == ("INFO", "pipeline.job")
    assert "the last micro-batch ended" in cli("health", "--set", port)
    cli("health", "--ready", "--set", port)
    cli("schedule", "now", "--topic", cli.out, "--key", "a", "--in", "1s")
    cli("schedule", "-", "--topic", cli.out, "--key", "b", "--in", "1h", stdin="from stdin")
    wait_for(lambda: cli.stats()["ends"]["done"] == 1, "the first message")
    (pending,) = [
        json.loads(line) for line in cli("list", "--json", "--status", "pending").splitlines()
    ]
    assert pending["key"] == "b"
    assert "from stdin" in cli("show", "b")
    assert [m.value() for m in read(cli.out)] == [b"now"]
    second = cli.run("run")
    assert second.returncode == 2
    assert "another job runs on this state" in second.stderr
    assert "Traceback" not in second.stderr
    cli("cancel", "b")
    wait_for(lambda: cli.stats()["ends"]["cancelled"] == 1, "the cancel")
    job.send_signal(signal.SIGINT)
    assert job.wait(PATIENCE) == 0
    silent = cli.run("health", "--set", port)
    assert (silent.returncode, "no job answers" in silent.stdout) == (1, True)


def test_once_through_the_command_line(cli: Cli, read: Read) -> None:
    cli("schedule", "x", "--topic", cli.out, "--key", "a", "--at", "2020-01-01T00:00:00Z")
    cli("run", "--once")
    assert [m.value() for m in read(cli.out)] == [b"x"]
    assert cli.stats()["ends"]["done"] == 1
