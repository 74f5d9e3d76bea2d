"""Commands about many keys, chosen from a real state and sent to a real broker."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.cli.main import main
from pipeline.client import Client
from pipeline.local_kafka import LocalKafka
from state.open import open_store
from state.settings import StateSettings
from tests.conftest import Read
from tests.state.build import put, tick

Run = Callable[..., str]


@pytest.fixture
def run(
    broker: LocalKafka,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    def command(*args: str) -> str:
        servers = f"kafka.bootstrap_servers={broker.bootstrap_servers}"
        flags = ["--set", f"state.delta.path={tmp_path}", "--set", servers]
        monkeypatch.setattr(sys, "argv", ["duestream", *args, "--config", "/dev/null", *flags])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        assert not ended.value.code, told.err
        return told.out

    return command


def test_each_key_gets_a_command_on_its_own_topic_about_the_version_seen(
    run: Run, topics: Callable[..., str], read: Read, tmp_path: Path
) -> None:
    one, other = topics("one"), topics("other")
    store = open_store(StateSettings.model_validate({"delta": {"path": str(tmp_path)}}))
    lines = [put(b"order-%d" % n, n, due=900 + n, partition=2) for n in range(3)]
    lines.append(put(b"bill-1", 7, due=900))
    for number, line in enumerate(lines):
        topic = other if number == 2 else one
        line |= {"source_topic": topic, "identity": topic.encode() + b"\0" + line["key"]}
    store.commit(tick(0, 0, lines))
    store.close()
    args = ("--key-prefix", "order-", "--in", "1h", "--reason", "late", "--actor", "ada")
    assert run("reschedule", *args, "--yes") == "3 sent: reschedule\n"
    found = {m.key(): json.loads(m.value()) for topic in (one, other) for m in read(topic)}
    assert sorted(found) == [b"order-0", b"order-1", b"order-2"]
    assert [m.key() for m in read(other)] == [b"order-2"]
    for number in range(3):
        said = found[b"order-%d" % number]
        assert said["type"] == "io.duestream.reschedule.v1"
        assert (said["ifversion"], said["delayby"]) == (f"2-{number}", "1h")
        assert (said["reason"], said["actor"]) == ("late", "ada")


def test_the_actor_is_who_sits_at_the_machine(
    run: Run, topics: Callable[..., str], read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = topics("one")
    monkeypatch.setenv("LOGNAME", "grace")
    assert run("cancel", "k", "--input", topic).startswith("cancel sent for k (")
    told = run("pause", "--topic", "orders", "--input", topic)
    assert told.startswith("pause sent for the topic orders (")
    assert [json.loads(m.value())["actor"] for m in read(topic)] == ["grace", "grace"]


def test_a_client_names_the_version_by_its_receipt(
    broker: LocalKafka, topics: Callable[..., str], read: Read
) -> None:
    topic = topics("one")
    with Client(broker.bootstrap_servers, topic=topic) as client:
        receipt = client.schedule("x", topic="orders", key="k", delay="1h")
        client.cancel("k", if_version=receipt)
        client.cancel("k")
    _, conditional, plain = read(topic)
    version = f"{receipt.partition}-{receipt.offset}"
    assert json.loads(conditional.value())["ifversion"] == version
    assert plain.value() is None
