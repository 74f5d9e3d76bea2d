"""Plays the demo from the first curtain to the last."""

import signal
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import yaml
from confluent_kafka import Producer
from rich.console import Console
from rich.live import Live

from pipeline.client import Client
from pipeline.clock import now_micros
from pipeline.config.settings import Settings
from pipeline.demo import script
from pipeline.demo.look import Look
from pipeline.demo.processes import ConsoleProcess, JobProcess, free_port
from pipeline.demo.stage import DEAD, INPUT, clear, settings_of, write_settings
from pipeline.demo.summary import summary
from pipeline.demo.watcher import Watcher
from pipeline.local_kafka import LocalKafka
from pipeline.local_mongo import LocalMongo
from pipeline.mongo_engine import prepare_mongo
from pipeline.quiet import quiet
from state.errors import DuestreamError
from state.open import open_inspector

# The broker's clock, not the producer's, says when a message came out.
_APPEND_TIME = {"message.timestamp.type": "LogAppendTime"}
_PATIENCE = 120.0  # seconds to wait for anything before giving up


def run_demo(
    seconds: float = 30.0, keep: Path | None = None, kind: str = "delta", ui: bool = False
) -> None:
    """Start Kafka and the job, play the script, show it live and sum it up.

    With ``ui`` the console is served beside it, and stays with the job until Ctrl-C.
    """
    console = Console()
    with ExitStack() as stack:
        folder = _folder(keep, stack)
        with console.status("starting a Kafka broker on this machine"):
            broker = stack.enter_context(LocalKafka())
            broker.create_topics([INPUT, DEAD], partitions=2)
            broker.create_topics(script.OUTPUTS, partitions=2, config=_APPEND_TIME)
        state = _state(kind, folder, console, stack)
        metrics = free_port() if ui else None  # the console shows the job's own figures
        file = write_settings(folder, broker.bootstrap_servers, state, metrics)
        served = _console(file, folder, console, stack) if ui else None
        job = JobProcess(file, folder / "job.log")
        stack.callback(job.stop)
        with console.status("starting the job (Spark takes some seconds)"):
            _wait_for(job.ready, "the job to start")
        _play(console, settings_of(file), job, script.steps(seconds), goes_on=served is not None)
        if served is not None:
            _stay(console, served, job)
        if keep:
            _tell_where(console, file, kind)


def _console(file: Path, folder: Path, console: Console, stack: ExitStack) -> ConsoleProcess:
    served = ConsoleProcess(file, folder / "console.log")
    stack.callback(served.stop)
    with console.status("starting the console"):
        _wait_for(served.ready, "the console to start")
    console.print(f"the console is at {served.address}", soft_wrap=True)
    return served


def _stay(console: Console, served: ConsoleProcess, job: JobProcess) -> None:
    """Leave everything running until Ctrl-C or SIGTERM; DuestreamError if something ends."""
    text = f"the console stays at {served.address}, with the job and its broker, until Ctrl-C"
    console.print(text, soft_wrap=True)
    # Ctrl-C too: a shell that starts it in the background has it ignored.
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(each, signal.default_int_handler) for each in signals]
    try:
        while job.said() and served.said():
            time.sleep(0.5)
    except KeyboardInterrupt:
        console.print("ending")
    finally:
        for each, handler in zip(signals, before, strict=True):
            signal.signal(each, handler)


def _folder(keep: Path | None, stack: ExitStack) -> Path:
    """Return an empty folder; what an earlier demo left there is gone with its broker."""
    if keep is None:
        return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="duestream-")))
    folder = keep.resolve()
    clear(folder)
    return folder


def _tell_where(console: Console, file: Path, kind: str) -> None:
    console.print(f"look into it with: duestream list --config {file}", soft_wrap=True)
    console.print("or open the notebooks: docs/notebooks.md", soft_wrap=True)
    if kind == "mongo":
        port = urlsplit(str(yaml.safe_load(file.read_text())["state"]["mongo"]["uri"])).port
        serve = f"duestream mongo --data {file.parent / 'mongo'} --port {port}"
        console.print(f"its MongoDB has ended; serve it again with: {serve}", soft_wrap=True)


def _state(kind: str, folder: Path, console: Console, stack: ExitStack) -> dict[str, object]:
    if kind != "mongo":
        return {"delta": {"path": str(folder / "state")}}
    prepare_mongo()
    with console.status("starting a MongoDB on this machine"):
        mongo = stack.enter_context(LocalMongo(folder / "mongo"))
    return {"kind": "mongo", "mongo": {"uri": mongo.uri}}


def _play(
    console: Console,
    settings: Settings,
    job: JobProcess,
    steps: list[script.Step],
    *,
    goes_on: bool,
) -> None:
    servers = settings.kafka.bootstrap_servers
    start = datetime.now(UTC)
    due = script.due_instants(steps, start)
    watcher = Watcher(servers, [*script.OUTPUTS, DEAD])
    watcher.start()
    look = Look(settings, watcher, due)
    left = list(steps)
    raw = Producer(quiet({"bootstrap.servers": servers}))
    try:
        with Client(settings) as client, Live(console=console, refresh_per_second=4) as live:

            def all_out() -> bool:
                while left and (datetime.now(UTC) - start).total_seconds() >= left[0].after:
                    script.play(left.pop(0), client, raw, INPUT, start)
                live.update(look.picture())
                job.ready()  # raises if it has ended
                return not left and script.all_out(steps, watcher.published, watcher.dead_letters)

            _wait_for(all_out, "the last message", until=script.last_due(steps))
        if not goes_on:
            job.stop()
        ledger = open_inspector(settings.state).stats(now_micros()).ledger
        console.print()
        console.print(summary(ledger, watcher.published, due))
    finally:
        watcher.stop()


def _wait_for(condition: Callable[[], bool], what: str, until: float = 0.0) -> None:
    give_up = time.monotonic() + until + _PATIENCE
    while not condition():
        if time.monotonic() > give_up:
            raise DuestreamError(
                f"gave up waiting for {what}; run it again with --keep and see job.log"
            )
        time.sleep(0.2)
