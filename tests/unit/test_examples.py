"""Every example is an event the job would take, and goes out when its page says so."""

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pipeline.cli.main import main
from pipeline.config.load import load_settings
from pipeline.schema import event_schema
from tests.examples import EVENTS, FOLDER, PAGE, SCRIPTS, command_lines, event

Plan = Callable[..., dict[str, Any]]
NEW_YEAR = "2030-01-01T00:00:00Z"
DURING = "2030-01-31T12:10:00Z"  # three occurrences after nine were missed by now

# When each goes out, in UTC, seen at an instant.
EXPECTED = {
    "once.json": (NEW_YEAR, ["2030-01-31T09:00:00Z"]),
    "delay.json": (NEW_YEAR, ["2030-01-01T00:15:00Z"]),
    "retry.json": (NEW_YEAR, ["2030-01-31T09:00:00Z"]),
    "repeat-every.json": (NEW_YEAR, [f"2030-01-31T{hour:02}:00:00Z" for hour in range(9, 14)]),
    "repeat-cron.json": (
        NEW_YEAR,
        [f"2030-01-{day:02}T08:30:00Z" for day in (1, 2, 3, 4, 7, 8, 9, 10, 11, 14)],
    ),
    "repeat-night.json": (
        "2030-03-29T12:00:00Z",
        [
            "2030-03-30T01:30:00Z",
            "2030-03-31T01:00:00Z",
            "2030-04-01T00:30:00Z",
            "2030-04-02T00:30:00Z",
        ],
    ),
    "repeat-for.json": (
        NEW_YEAR,
        ["2030-01-31T09:00:00Z", *[f"2030-02-0{day}T09:00:00Z" for day in (1, 2, 3)]],
    ),
    "repeat-until.json": (
        NEW_YEAR,
        ["2030-01-31T09:00:00Z", "2030-01-31T09:30:00Z", "2030-01-31T10:00:00Z"],
    ),
    "on-miss-all.json": (DURING, [f"2030-01-31T{hour:02}:00:00Z" for hour in range(9, 15)]),
    "on-miss-last.json": (DURING, [f"2030-01-31T{hour:02}:00:00Z" for hour in (12, 13, 14)]),
    "on-miss-skip.json": (DURING, [f"2030-01-31T{hour:02}:00:00Z" for hour in (13, 14)]),
    "same-key-replace.json": (NEW_YEAR, ["2030-01-31T09:00:00Z"]),
    "same-key-keep.json": (NEW_YEAR, ["2030-01-31T09:00:00Z"]),
    "same-key-ignore-duplicate.json": (NEW_YEAR, ["2030-01-31T09:00:00Z"]),
    "same-key-ignore-small-change.json": (NEW_YEAR, ["2030-01-31T09:00:00Z"]),
    "same-key-settle.json": (NEW_YEAR, ["2030-01-01T00:00:10Z"]),
    "same-key-debounce.json": (NEW_YEAR, ["2030-01-01T00:00:05Z"]),
    "same-key-throttle.json": (NEW_YEAR, ["2030-01-01T00:01:00Z"]),
    "expiry-time.json": (NEW_YEAR, ["2030-01-31T09:00:00Z"]),
    "expire-after.json": (
        NEW_YEAR,
        ["2030-01-31T09:00:00Z", "2030-02-01T09:00:00Z", "2030-02-02T09:00:00Z"],
    ),
    "second-form.json": (NEW_YEAR, [f"2030-01-31T{hour:02}:00:00Z" for hour in (9, 10, 11)]),
}
COMMANDS = {
    "cancel.json": ("cancel", "key"),
    "cancel-if-version.json": ("cancel", "key"),
    "reschedule.json": ("reschedule", "key"),
    "reschedule-delay.json": ("reschedule", "key"),
    "send-now.json": ("sendnow", "key"),
    "pause-key.json": ("pause", "key"),
    "pause-topic.json": ("pause", "topic"),
    "pause-all.json": ("pause", "all"),
    "resume-key.json": ("resume", "key"),
    "resume-topic.json": ("resume", "topic"),
    "resume-all.json": ("resume", "all"),
}


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Plan:
    """Return what runs ``duestream plan`` on an example."""

    def run(name: str, now: str) -> dict[str, Any]:
        args = ["plan", str(FOLDER / name), "--now", now, "--key", "k", "--json"]
        flags = ["--config", "/dev/null", "--set", "outputs.allow=*"]
        monkeypatch.setattr(sys, "argv", ["duestream", *args, *flags])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        assert not ended.value.code, told.out + told.err
        found: dict[str, Any] = json.loads(told.out)
        return found

    return run


def test_every_example_is_tried_here_and_told_on_the_page() -> None:
    assert sorted([*EXPECTED, *COMMANDS]) == EVENTS
    named = [*EVENTS, *SCRIPTS, *(path.name for path in FOLDER.glob("*.yaml"))]
    assert [name for name in named if f"({name})" not in PAGE] == []
    assert sorted([*command_lines(), "second-form.json"]) == EVENTS


@pytest.mark.parametrize("name", EXPECTED)
def test_a_message_goes_out_when_it_should(planned: Plan, name: str) -> None:
    now, instants = EXPECTED[name]
    found = planned(name, now)
    assert [one["utc"] for one in found["occurrences"]] == instants
    assert found["topic"] in ("reminders", "readings", "orders", "prices", "stock", "drafts")
    assert all(one["sent"] for one in found["occurrences"])
    assert found["more"] == (name == "repeat-cron.json")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_read_as_what_it_is(planned: Plan, name: str) -> None:
    found = planned(name, NEW_YEAR)
    assert (found["command"], found["scope"]) == COMMANDS[name]
    assert found["actor"] == "ada"


def test_a_reschedule_says_when(planned: Plan) -> None:
    assert planned("reschedule.json", NEW_YEAR)["due"] == "2030-01-31T15:00:00Z"
    assert planned("reschedule-delay.json", NEW_YEAR)["due"] == "2030-01-01T01:00:00Z"


@pytest.mark.parametrize("name", EVENTS)
def test_an_example_is_true_to_the_schema(name: str) -> None:
    Draft202012Validator(event_schema()).validate(event(name))


def test_the_settings_that_withdraw_are_settings() -> None:
    [rule] = load_settings(FOLDER / "withdraw.yaml", {}, {}).withdraw
    assert (rule.topic, rule.source, rule.key) == ("orders", "duestream.schedules", "$.order.id")
    assert rule.where == {"$.order.state": "paid"}


def test_the_settings_of_shapes_are_settings() -> None:
    shapes = load_settings(FOLDER / "output-shape.yaml", {}, {}).outputs.shape
    assert shapes["orders.*"].envelope == "structured"
    assert shapes["reminders"].add == {"team": "billing"}
