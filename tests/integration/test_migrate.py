"""Other schedulers' topics on a real broker: counted as they are, and imported once."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Message
from pydantic import SecretStr
from pyspark.sql import SparkSession

from pipeline.audit import audit_ledger
from pipeline.cli.migrate_output import imported_sentences
from pipeline.clock import now_micros
from pipeline.config.load import load_settings
from pipeline.config.settings import Settings
from pipeline.local_kafka import LocalKafka
from pipeline.migrate.check import check
from pipeline.migrate.fates import Fate
from pipeline.migrate.run import Imported, Wish, run_import
from pipeline.migrate.source import to_look_at, to_take
from pipeline.topics import prepare_topics
from state.errors import StateError
from state.open import open_inspector
from tests.conftest import Mongo
from tests.integration.foreign_topics import DIALECTS, Story
from tests.integration.running import run_once
from tests.unit.test_cli_main import run

Read = Callable[[str], list[Message]]
Topics = Callable[..., str]
NOW = int(time.time())
FORBIDDEN = "not-there"
PENDING = 3 + 4  # those to come, and good, moved, again, wide
TAKEN = PENDING + 2  # and the overdue


def nothing_told(done: int, total: int) -> None:
    assert done <= total


@pytest.fixture
def settings(
    broker: LocalKafka, topics: Topics, tmp_path: Path, request: pytest.FixtureRequest
) -> Settings:
    """Settings of a job for a topic of the dialect that the test is for, with its story told."""
    dialect = DIALECTS[request.param]
    topic, out = topics(dialect.name, partitions=2), topics("out")
    output = {} if dialect.names_topic else {"output_topic": out}
    made = load_settings(
        flags={
            "name": topic,
            "kafka.bootstrap_servers": broker.bootstrap_servers,
            "sources": [{"topic": topic, "dialect": dialect.name, **output}],
            "outputs.allow": [out],
            "dead_letter.topic": topics("dead"),
            "pipeline.checkpoint": str(tmp_path / "checkpoint"),
            "state.delta.path": str(tmp_path / "state"),
        },
        environ={},
    )
    Story(broker.bootstrap_servers, dialect, topic, out, NOW).tell(FORBIDDEN)
    return made


def import_it(spark: SparkSession, settings: Settings, **wish: bool) -> Imported:
    source = to_take(settings, settings.sources[0].topic, None)
    told = (nothing_told, nothing_told)
    return run_import(spark, settings, source, Wish(**wish), told)


def ledger_of(settings: Settings) -> dict[str, int]:
    audit, _ = audit_ledger(open_inspector(settings.state), now_micros())
    assert list(audit.differences()) == []
    ends = {status.value: count for status, count in audit.ledger.ends.items() if count}
    return {"accepted": audit.ledger.accepted, **ends}


@pytest.mark.parametrize("settings", DIALECTS, indirect=True)
def test_every_record_of_a_topic_is_told_of_as_what_it_is(
    spark: SparkSession, settings: Settings
) -> None:
    [source] = settings.sources
    dialect, out = DIALECTS[source.dialect], settings.outputs.allow[0]
    alone = settings.model_copy(update={"sources": [load_settings(environ={}).sources[0]]})
    given = to_look_at(alone, source.topic, source.dialect, source.output_topic)
    report, span = check(spark, *given, NOW * 1_000_000, nothing_told)
    named, marks = int(dialect.names_topic), int(dialect.mark is not None)
    wide = source.dialect == "karafka"  # there a key on two partitions names two schedules
    assert report.fates == {
        Fate.PENDING: PENDING + named,
        Fate.OVERDUE: 2,
        Fate.CANCELLED: 2 + wide,
        Fate.UNREADABLE: 2,
        **({Fate.SENT: 1} if marks else {}),
    }
    assert (report.replaced, report.offsets) == (2, span.offsets)
    assert [(each.partition, each.reason) for each in report.unread] == [
        (0, report.unread[0].reason)
    ] * 2
    outputs = {each.topic: (each.schedules, each.allowed, each.exists) for each in report.outputs}
    assert outputs.pop(out) == (TAKEN, True, True)
    assert outputs == ({FORBIDDEN: (1, False, False)} if named else {})
    problems = " ".join(report.problems())
    assert "2 records cannot be taken" in problems
    assert (f"outputs.allow: add {FORBIDDEN} (1)" in problems) == bool(named)


@pytest.mark.parametrize("settings", ["etf1"], indirect=True)
def test_an_import_into_delta_is_made_once_and_the_job_then_sends_each_once(
    spark: SparkSession, settings: Settings, read: Read
) -> None:
    first = import_it(spark, settings, skip_unreadable=True)
    assert (first.accepted, first.report.left_out) == (TAKEN, 3)
    assert import_it(spark, settings, skip_unreadable=True).accepted == 0
    assert ledger_of(settings) == {"accepted": TAKEN, "pending": TAKEN}
    _the_job_sends_the_overdue(spark, settings, read, "overdue-0", "overdue-1")


@pytest.mark.parametrize("settings", ["kms-avro"], indirect=True)
def test_an_import_into_mongodb_is_made_once_and_follows_what_came_since(
    spark: SparkSession, broker: LocalKafka, settings: Settings, mongo: Mongo, database: str, read
) -> None:
    there = settings.state.mongo.model_copy(
        update={"uri": SecretStr(mongo.uri), "database": database}
    )
    state = settings.state.model_copy(update={"kind": "mongo", "mongo": there})
    settings = settings.model_copy(update={"state": state})
    assert import_it(spark, settings, skip_unreadable=True).accepted == TAKEN
    topic, out = settings.sources[0].topic, settings.outputs.allow[0]
    story = Story(broker.bootstrap_servers, DIALECTS["kms-avro"], topic, out, NOW)
    story.mark("to-come-0")  # about one that went out before: this is not due yet
    story.mark("overdue-0")
    story.cancel("to-come-1")
    story.put("to-come-2", -60)
    story.put("new", 86_400)
    story.flush()
    again = import_it(spark, settings, skip_unreadable=True, skip_overdue=True)
    assert (again.accepted, again.ended) == (1, 3)
    assert ledger_of(settings) == {"accepted": TAKEN + 1, "pending": TAKEN - 2, "cancelled": 3}
    _the_job_sends_the_overdue(spark, settings, read, "overdue-1")


def _the_job_sends_the_overdue(
    spark: SparkSession, settings: Settings, read: Read, *keys: str
) -> None:
    """Read the topic from its beginning: nothing is new in it, and what is overdue goes out."""
    before = ledger_of(settings)
    run_once(spark, settings)
    out = settings.outputs.allow[0]
    expected = [(key.encode(), f"to {key}".encode()) for key in keys]
    assert sorted((m.key(), m.value()) for m in read(out)) == expected
    assert read(settings.dead_letter.topic) == []
    after = before | {"done": len(keys), "pending": before["pending"] - len(keys)}
    assert ledger_of(settings) == after


@pytest.mark.parametrize("settings", ["kms-json"], indirect=True)
def test_an_import_that_is_killed_goes_on_where_it_stopped(
    spark: SparkSession, broker: LocalKafka, settings: Settings, tmp_path: Path
) -> None:
    source, out = settings.sources[0], settings.outputs.allow[0]
    story = Story(broker.bootstrap_servers, DIALECTS[source.dialect], source.topic, out, NOW)
    for n in range(250):
        story.put(f"many-{n}", 86_400, partition=n % 2)
    story.put("long-out", -86_400, to=FORBIDDEN)  # overdue: nothing needs to be allowed for it
    story.flush()
    command = [
        *(sys.executable, "-m", "pipeline.cli.main", "migrate", "run", "--source", source.topic),
        *("--skip-unreadable", "--skip-overdue", "--config", str(tmp_path / "settings.yaml")),
    ]
    (tmp_path / "settings.yaml").write_text(_yaml(settings))
    environ = {**os.environ, "DUESTREAM_CRASH_AT": "during_import:2"}
    killed = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=300)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert ledger_of(settings) == {"accepted": 100, "pending": 100}
    wish = {"skip_unreadable": True, "skip_overdue": True}
    done = list(imported_sentences(import_it(spark, settings, **wish), Wish(**wish)))
    left = 250 + PENDING - 100
    assert done[:3] == [
        f"{left} schedules were imported, 100 were known",
        f"3 were left out as they cannot be taken; they are still on {source.topic}",
        "3 were left out as they are overdue",
    ]
    assert ledger_of(settings) == {"accepted": left + 100, "pending": left + 100}


def _yaml(settings: Settings) -> str:
    source = settings.sources[0]
    return f"""
name: {settings.name}
kafka: {{bootstrap_servers: "{settings.kafka.bootstrap_servers}"}}
sources: [{{topic: {source.topic}, dialect: {source.dialect}}}]
outputs: {{allow: [{settings.outputs.allow[0]}]}}
dead_letter: {{topic: {settings.dead_letter.topic}}}
pipeline: {{checkpoint: {settings.pipeline.checkpoint}}}
state: {{delta: {{path: {settings.state.delta.path}}}}}
spark: {{options: {{spark.sql.execution.arrow.maxRecordsPerBatch: "50"}}}}
"""


@pytest.mark.parametrize("settings", ["karafka"], indirect=True)
def test_nothing_is_imported_while_a_job_runs_or_something_cannot_be_taken(
    spark: SparkSession, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare_topics(settings)
    monkeypatch.setattr("pipeline.presence._GONE_AFTER", 0)  # it is alive: no use to wait
    with _somebody_on(settings), pytest.raises(StateError, match="another job runs on this state"):
        import_it(spark, settings, skip_unreadable=True)
    assert import_it(spark, settings).accepted is None
    assert ledger_of(settings) == {"accepted": 0}


def test_a_topic_that_is_not_there_is_told_before_spark_is_started(
    broker: LocalKafka, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DUESTREAM_KAFKA__BOOTSTRAP_SERVERS", broker.bootstrap_servers)
    assert run(monkeypatch, "migrate", "check", "--source", "not-there", "--dialect", "etf1") == 2
    assert (
        capsys.readouterr().err == "--source: the topic not-there does not exist; check its name\n"
    )


@contextmanager
def _somebody_on(settings: Settings) -> Iterator[None]:
    """Have another process be seen as the job of the state."""
    program = f"""
from pipeline.presence import Presence
from state.open import make_state
from state.settings import DeltaSettings, StateSettings
made = make_state(StateSettings(delta=DeltaSettings(path={settings.state.delta.path!r})))
options = {{"bootstrap.servers": {settings.kafka.bootstrap_servers!r}}}
presence = Presence(options, made.state_id, {settings.internal_topic!r})
presence.announce()
print("there", flush=True)
input()
"""
    command = [sys.executable, "-c", program]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "there\n"
        try:
            yield
        finally:
            other.kill()
