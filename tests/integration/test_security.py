"""A broker with TLS, passwords and ACLs: the documented rights are enough, fewer are told."""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import trustme
from confluent_kafka.admin import AclBinding
from confluent_kafka.admin import AclOperation as Op
from confluent_kafka.admin import ResourceType as Kind
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from pipeline.cli.main import app
from pipeline.client import Client
from pipeline.clock import now_micros
from pipeline.config.kafka import librdkafka_options
from pipeline.config.settings import Settings
from pipeline.outbox.start import start_outbox
from pipeline.presence import Presence
from pipeline.quiet import quiet
from pipeline.topics import prepare_topics
from state.errors import KafkaError
from state.memory import MemoryStore
from state.open import open_inspector
from state.settings import DAY
from tests.integration.running import PATIENCE, in_seconds, running, wait_for
from tests.integration.secured import User, job_user, other_user
from tests.reading import read_committed
from tests.secured_kafka import SecuredKafka

Right = tuple[str, Op]

# What a job is told that lacks this one right, when it starts.
REFUSED: dict[Right, str] = {
    ("input", Op.READ): r"may not read the topic in-\d+; allow it \(Read on topic in-\d+\): duestr",
    ("internal", Op.CREATE): r"cannot create the topic duestream\.job-\d+\.internal: .*acl show",
    ("internal", Op.READ): r"may not read the topic duestream\.job-\d+\.internal;",
    ("internal", Op.WRITE): r"may not write the topic duestream\.job-\d+\.internal;",
    ("markers", Op.CREATE): r"cannot create the topic duestream\.job-\d+\.internal\.markers: ",
    ("markers", Op.READ): r"may not read the topic duestream\.job-\d+\.internal\.markers;",
    ("markers", Op.WRITE): r"may not write the topic duestream\.job-\d+\.internal\.markers;",
    ("dead letters", Op.CREATE): r"cannot create the topic dead-\d+: .*acl show",
    ("dead letters", Op.WRITE): r"may not write the topic dead-\d+;",
    ("groups", Op.READ): r"allow it \(Read on groups that begin with duestream\.\): duestream acl",
    ("transactions", Op.WRITE): r"Write on transactional ids that begin with duestream\.: duestr",
}
# What a job lacks and starts all the same, with this line in its log.
TOLERATED: dict[Right, str | None] = {
    ("output", Op.WRITE): "may not write the topic out-",
    ("closed", Op.WRITE): "may not write the topic closed-",
    ("output", Op.DESCRIBE_CONFIGS): None,
    ("closed", Op.DESCRIBE_CONFIGS): None,
    ("dead letters", Op.DESCRIBE_CONFIGS): None,
    ("markers", Op.DESCRIBE_CONFIGS): "cannot check that",
    ("internal", Op.ALTER): None,  # until there are to be more lanes
    ("markers", Op.ALTER): None,
}


@pytest.fixture(scope="module")
def kafka() -> Iterator[SecuredKafka]:
    with SecuredKafka() as served:
        yield served


@pytest.fixture
def user(kafka: SecuredKafka, tmp_path: Path) -> User:
    return job_user(kafka, tmp_path)


def named(settings: Settings, one: AclBinding) -> Right:
    """Return what a right is for."""
    kinds = {Kind.GROUP: "groups", Kind.TRANSACTIONAL_ID: "transactions"}
    topics = {
        settings.sources[0].topic: "input",
        settings.outputs.allow[0]: "output",
        settings.outputs.allow[1]: "closed",
        settings.internal_topic: "internal",
        settings.markers_topic: "markers",
        settings.dead_letter.topic: "dead letters",
    }
    return kinds.get(one.restype) or topics[one.name], one.operation


def begin(settings: Settings) -> None:
    """Do all that a job does on Kafka before it reads, without Spark."""
    prepare_topics(settings)
    store = MemoryStore(keep_closed=DAY)
    clients = quiet(librdkafka_options(settings.kafka))
    presence = Presence(clients, store.state_id, settings.internal_topic)
    try:
        presence.announce()
        outbox, _ = start_outbox(settings, store, now_micros())
        outbox.stop()
    finally:
        presence.close()


def run_as_process(user: User) -> subprocess.CompletedProcess[str]:
    """Run the job as its users do, until it ends by itself."""
    return subprocess.run(
        [sys.executable, "-m", "pipeline.cli.main", "run", "--config", os.devnull, *user.words],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def test_each_right_that_is_printed_is_left_out_once_below(user: User) -> None:
    printed = {named(user.settings, one) for one in user.rights()}
    assert printed == REFUSED.keys() | TOLERATED.keys()


@pytest.mark.parametrize("right", REFUSED, ids=lambda right: f"{right[0]}-{right[1].name}")
def test_a_job_that_lacks_a_right_is_told_which(user: User, right: Right) -> None:
    left_out = user.allow(but=lambda one: named(user.settings, one) == right)
    assert len(left_out) == 1
    with pytest.raises(KafkaError, match=REFUSED[right]):
        begin(user.settings)


@pytest.mark.parametrize("right", TOLERATED, ids=lambda right: f"{right[0]}-{right[1].name}")
def test_what_a_job_can_do_without_is_told_in_its_log(
    user: User, right: Right, caplog: pytest.LogCaptureFixture
) -> None:
    user.allow(but=lambda one: named(user.settings, one) == right)
    with caplog.at_level(logging.WARNING):
        for _ in range(2):  # the second time its own topics are there
            prepare_topics(user.settings)
    expected = TOLERATED[right]
    assert (expected or "") in caplog.text
    assert expected or not caplog.text


def test_a_job_begins_without_all_that_it_can_do_without(user: User) -> None:
    left_out = user.allow(but=lambda one: named(user.settings, one) in TOLERATED)
    assert len(left_out) == len(TOLERATED)
    begin(user.settings)


def test_more_lanes_need_the_right_to_alter(user: User) -> None:
    user.allow(but=lambda one: one.operation == Op.ALTER)
    prepare_topics(user.settings)
    with pytest.raises(KafkaError, match=r"cannot give the topic .* 3 partitions: .*acl show"):
        prepare_topics(user.with_flags(**{"publish.lanes": 3}))


def test_at_least_once_needs_neither_transactions_nor_markers(user: User) -> None:
    plain = User(user.kafka, user.name, user.flags | {"publish.guarantee": "at_least_once"})
    left_out = {named(user.settings, one)[0] for one in user.rights()} - {
        named(user.settings, one)[0] for one in plain.rights()
    }
    assert left_out == {"transactions", "markers"}
    plain.allow()
    begin(plain.settings)


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        ({"kafka.security.password": "wrong"}, "authentication fail"),
        ({"kafka.security.username": "nobody"}, "authentication fail"),
        ({"kafka.security.ca_file": "other"}, "certificate verify failed"),
    ],
    ids=["password", "user", "authority"],
)
def test_a_login_that_fails_is_told_as_one(
    user: User, tmp_path: Path, flags: dict[str, object], why: str
) -> None:
    if flags.get("kafka.security.ca_file"):
        trustme.CA().cert_pem.write_to_path(tmp_path / "other.pem")
        flags = {"kafka.security.ca_file": str(tmp_path / "other.pem")}
    settings = user.with_flags(**flags)
    with pytest.raises(KafkaError, match=rf"(?i)kafka\.security: the brokers at .*{why}"):
        prepare_topics(settings)
    client = Client(settings, timeout=timedelta(seconds=3))
    with pytest.raises(KafkaError, match=rf"(?i)kafka\.security: the brokers at .*{why}"):
        client.cancel("key")


def test_plain_text_spoken_to_a_door_with_tls_is_told(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    login = ("protocol", "mechanism", "username", "password", "ca_file")
    settings = user.with_flags(**{f"kafka.security.{name}": None for name in login})
    monkeypatch.setattr("pipeline.topics._TIMEOUT", 3.0)
    sentence = r"nobody there answers in PLAINTEXT \(kafka\.security\.protocol\)"
    with pytest.raises(KafkaError, match=sentence):
        prepare_topics(settings)


def test_a_wrong_password_ends_the_job_with_a_sentence_and_exit_code_2(user: User) -> None:
    wrong = User(user.kafka, user.name, user.flags | {"kafka.security.password": "wrong"})
    done = run_as_process(wrong)
    assert done.returncode == 2
    assert done.stderr.startswith("kafka.security: the brokers at ")
    assert len(done.stderr.splitlines()) == 1


def test_a_job_with_exactly_these_rights_does_all_a_job_does(
    spark: SparkSession, user: User, kafka: SecuredKafka
) -> None:
    settings, sender = user.settings, other_user(user, "client")
    out, closed = settings.outputs.allow

    def values(topic: str) -> list[bytes | None]:
        return [message.value() for message in read_committed(kafka.bootstrap_servers, topic)]

    def dead() -> list[str]:
        letters = read_committed(kafka.bootstrap_servers, settings.dead_letter.topic)
        return [dict(letter.headers() or [])["duestream-reason"].decode() for letter in letters]

    # Without the right to write transactions the whole job, Spark and all, ends with a sentence.
    client = Client(sender.settings)
    client.schedule("first", topic=out, key="a", delay="0s")
    lacking = user.allow(but=lambda one: one.restype == Kind.TRANSACTIONAL_ID)
    done = run_as_process(user)
    assert done.returncode == 2, done.stderr
    assert "Write on transactional ids that begin with duestream." in done.stderr
    assert "Traceback" not in done.stderr
    assert values(out) == []

    # With it, but without any right on one output topic, only that topic's messages wait.
    kafka.grant(lacking)
    kafka.revoke(user.principal, closed)
    with running(spark, settings):
        client.schedule("elsewhere", topic="forbidden", key="b", delay="0s")
        client.schedule("closed", topic=closed, key="c", delay="0s")
        wait_for(lambda: values(out) == [b"first"], "the message from before")
        wait_for(lambda: dead() == ["topic_not_allowed"], "the dead letter")
        wait_for(lambda: _attempts(settings, b"c") > 0, "an attempt that fails")
        user.allow()
        wait_for(lambda: values(closed) == [b"closed"], "what waited for its right")
        client.schedule("later", topic=out, key="d", at=in_seconds(2))
    with running(spark, settings):
        wait_for(lambda: sorted(values(out)) == [b"first", b"later"], "the one after the restart")
    assert (values(closed), dead()) == ([b"closed"], ["topic_not_allowed"])

    # Somebody who may only read what is out can hold it against the state.
    auditor = other_user(user, "audit")
    words = ["audit", "--topics", "--json", "--config", os.devnull, *auditor.words]
    told = CliRunner().invoke(app, words)
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)["difference"] == 0
    refused = CliRunner().invoke(app, [*words[: -len(auditor.words)], *sender.words])
    assert isinstance(refused.exception, KafkaError)
    assert f"the user {sender.name} may not read the topic " in str(refused.exception)


def _attempts(settings: Settings, key: bytes) -> int:
    (row,) = open_inspector(settings.state).versions(key).to_pylist()
    return len(row["attempted_at"] or [])
