"""The examples as they are sent: the command lines of their page, and the Python programs."""

import json
import runpy
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Message

from pipeline.cli.main import main
from pipeline.local_kafka import LocalKafka
from pipeline.planning.event import WISHES
from tests.examples import FOLDER, SCRIPTS, command_lines, event
from tests.pages import ROOT, blocks
from tests.reading import read_committed

TOPIC = "duestream.schedules"
OWN = ("id", "source", "time")
LINES = command_lines()
SENT = {"series.py": 3, "same_key.py": 3, "commands.py": 10}


@pytest.fixture(scope="module")
def broker() -> Iterator[LocalKafka]:
    with LocalKafka() as kafka:
        kafka.create_topics([TOPIC])
        yield kafka


def records(broker: LocalKafka) -> list[Message]:
    return read_committed(broker.bootstrap_servers, TOPIC)


def said_in(record: Message) -> dict[str, Any]:
    """Return what a record says, whichever mode it has, as an example says it."""
    headers = {name: value.decode() for name, value in record.headers() or []}
    if "ce_type" not in headers:
        body: dict[str, Any] = json.loads(record.value())
        return {name: value for name, value in body.items() if name not in OWN}
    named = {name: headers[f"ce_{name}"] for name in ("specversion", "type", *WISHES)
             if f"ce_{name}" in headers}  # fmt: skip
    return {**named, "data": record.value().decode()}


@pytest.mark.parametrize("name", LINES)
def test_the_command_line_sends_what_the_example_says(
    broker: LocalKafka,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
) -> None:
    servers = f"kafka.bootstrap_servers={broker.bootstrap_servers}"
    flags = ["--json", "--config", "/dev/null", "--set", servers]
    monkeypatch.setattr(sys, "argv", ["duestream", *LINES[name], *flags])
    with pytest.raises(SystemExit) as ended:
        main()
    told = capsys.readouterr()
    assert not ended.value.code, told.err
    record = records(broker)[-1]
    assert record.offset() == json.loads(told.out)["offset"]
    expected = {key: value for key, value in event(name).items() if key not in OWN}
    assert said_in(record) == expected


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_program_sends_what_it_should(
    broker: LocalKafka, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    before = len(records(broker))
    monkeypatch.setenv("KAFKA", broker.bootstrap_servers)
    runpy.run_path(str(FOLDER / name), run_name="__main__")
    assert len(records(broker)) - before == SENT[name]


def test_the_python_of_the_first_page_sends_what_it_says(broker: LocalKafka) -> None:
    before = len(records(broker))
    names: dict[str, Any] = {}
    for block in blocks(ROOT / "README.md"):
        if block.language == "python":
            there = block.text.replace("localhost:9092", broker.bootstrap_servers)
            exec(compile(there, f"{block.page}:{block.line}", "exec"), names)  # noqa: S102
    assert len(records(broker)) - before == 6
