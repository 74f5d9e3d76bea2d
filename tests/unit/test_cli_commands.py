"""The commands that were given, as the state remembers them."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pipeline.cli import commands as listing
from pipeline.cli.main import main
from pipeline.remembered import Remembered, remembered
from state.inspect import Filter
from state.open import open_store
from state.row import ROW
from state.select import expression, first
from state.settings import StateSettings
from tests.state.build import at, put, tick

DETAIL = {"what": "cancel", "who": "ada", "why": "paid [red]", "effect": "cancelled"}
OF_KEY = {"scope": "key", "topic": None}


class Table:
    """An inspector of rows that are at hand."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._rows = pa.Table.from_pylist(rows, ROW)

    def rows(self, where: Filter) -> pa.Table:
        return first(self._rows.filter(expression(where)), where)


def row(key: bytes, second: int, kind: str = "command", **more: Any) -> dict[str, Any]:
    line = {name: value for name, value in put(key, second, due=0).items() if name in ROW.names}
    return line | {"kind": kind, "status": "done", "changed_at": at(second)} | more


TABLE = Table(
    [
        row(b"a", 1, reason="cancelled", detail=json.dumps(DETAIL)),
        row(b"a", 2, kind="message"),
        row(b"b", 3, reason="nothing_pending", detail=json.dumps({"what": "sendnow", "why": None})),
        row(b"c", 4, reason="unknown_topic", detail="the topic replies does not exist"),
        row(b"d", 5, reason="unknown_topic", detail=json.dumps(DETAIL)),
    ]
)


def test_commands_are_found_the_newest_first_with_all_that_was_said() -> None:
    found = remembered(TABLE)  # type: ignore[arg-type]
    assert [(one.key, one.effect) for one in found] == [
        (b"d", "cancelled"),
        (b"c", "unknown_topic"),
        (b"b", "nothing_pending"),
        (b"a", "cancelled"),
    ]
    assert found[-1] == Remembered(at(1), b"a", "cancel", "cancelled", "ada", "paid [red]")
    assert (found[2].what, found[2].who, found[2].why) == ("sendnow", "", "")


def test_commands_about_one_key_are_found() -> None:
    assert [one.key for one in remembered(TABLE, b"b")] == [b"b"]  # type: ignore[arg-type]


def test_a_command_is_one_line_of_json_or_of_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    found = remembered(TABLE, b"a")  # type: ignore[arg-type]
    listing._print(found, as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert told == {"when": "2027-01-15T08:00:01.000000Z", "key": "a", **DETAIL, **OF_KEY}
    listing._print(found, as_json=False)
    [line] = [line for line in capsys.readouterr().out.splitlines() if "ada" in line]
    when = "2027-01-15T08:00:01.000Z"
    assert line.split() == [when, "a", "cancel", "cancelled", "ada", "paid", "[red]"]


def test_a_command_about_more_than_a_key_says_about_what(
    capsys: pytest.CaptureFixture[str],
) -> None:
    of_topic = json.dumps({"what": "pause", "scope": "topic", "topic": "bills"})
    of_all = json.dumps({"what": "pause", "scope": "all"})
    rows = [row(b"topic", 1, detail=of_topic), row(b"all", 2, detail=of_all)]
    listing._print(remembered(Table(rows)), as_json=False)  # type: ignore[arg-type]
    everything, topic = capsys.readouterr().out.splitlines()[3:5]
    assert everything.split()[1:] == ["everything", "pause"]
    assert topic.split()[1:] == ["topic", "bills", "pause"]


def test_the_command_line_lists_what_the_state_remembers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = open_store(StateSettings.model_validate({"delta": {"path": str(tmp_path)}}))
    given = put(b"a", 1, due=0) | {
        "entry": "command",
        "kind": "command",
        "identity": b"command 1",
        "output_topic": None,
        "payload": None,
        "due": None,
        "reason": "cancelled",
        "detail": json.dumps(DETAIL),
    }
    store.commit(tick(0, 7, [put(b"a", 0, due=900), given]))
    store.close()
    monkeypatch.setattr(sys, "argv", ["duestream", "commands", "a", "--json", *_flags(tmp_path)])
    _ends(main)
    told = json.loads(capsys.readouterr().out)
    assert told == {"when": "2027-01-15T08:00:07.000000Z", "key": "a", **DETAIL, **OF_KEY}


def test_a_state_without_commands_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = open_store(StateSettings.model_validate({"delta": {"path": str(tmp_path)}}))
    store.commit(tick(0, 0, [put(b"a", 0, due=900)]))
    store.close()
    monkeypatch.setattr(sys, "argv", ["duestream", "commands", *_flags(tmp_path)])
    _ends(main)
    assert capsys.readouterr().out == "Nothing found.\n"


def _flags(path: Path) -> list[str]:
    return ["--config", "/dev/null", "--set", f"state.delta.path={path}"]


def _ends(command: Callable[[], None]) -> None:
    with pytest.raises(SystemExit) as ended:
        command()
    assert not ended.value.code
