"""The JSON Schema of events: generated, in step with the rules, and true of what the job takes."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from plan_events import ASKING, COMMANDS, PLAIN

from pipeline.config.load import load_settings
from pipeline.planning.event import WISHES
from pipeline.planning.plan import NotTaken, plan
from pipeline.schema import DURATION, EXCLUDING, INSTANT, MEANINGS, NEEDING, schema_text
from state import duration
from state.rules import asked, instant

FILE = Path(__file__).parents[2] / "conf/event.schema.json"
SCHEMA = Draft202012Validator(json.loads(schema_text()))
FLAGS = {"outputs.allow": ["*"], "schedules.endless_repeats": True}
SETTINGS = load_settings(flags=FLAGS, environ={})
SENT = 1_767_268_800_000_000
EVENTS = {**PLAIN, **ASKING, **COMMANDS}


def as_json(value: bytes) -> object:
    """Return what the value says, None where it is no JSON."""
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def test_the_file_is_the_one_the_code_gives() -> None:
    assert FILE.read_text() == schema_text(), (
        "write it anew: python -m pipeline.schema > conf/event.schema.json"
    )


def test_the_schema_is_one_itself() -> None:
    Draft202012Validator.check_schema(json.loads(schema_text()))


def test_the_schema_accepts_all_that_the_job_would_take() -> None:
    taken = [n for n, v in EVENTS.items() if not isinstance(plan(v, SETTINGS, SENT), NotTaken)]
    assert len(taken) > 40
    assert [name for name in taken if not SCHEMA.is_valid(as_json(EVENTS[name]))] == []


@pytest.mark.parametrize(
    "name",
    [
        "no id",
        "an empty type",
        "null source",
        "nested source",
        "another version",
        "no topic",
        "metaData without topic",
        "metaData that is text",
        "metaData and attributes",
        "both times",
        "both data",
        "no offset",
        "leap second",
        "a number as instant",
        "months",
        "an empty delay",
        "partition below zero",
        "many retries",
        "retries for long",
        "base64 with a blank",
        "an object as message",
        "no topic name",
        "every and cron",
        "an end without a repeat",
        "no such misfire",
        "no such policy",
        "settles at an instant",
        "second form beside",
        "reschedule to nowhen",
        "reschedule to no instant",
        "reschedule twice",
        "pause no topic",
        "pause some",
        "no version",
    ],
)
def test_the_schema_refuses_what_it_can_see(name: str) -> None:
    assert isinstance(plan(EVENTS[name], SETTINGS, SENT), NotTaken)
    assert not SCHEMA.is_valid(as_json(EVENTS[name]))


def test_the_schema_says_of_instants_and_durations_what_the_rules_say() -> None:
    def plain(pattern: str) -> str:
        return pattern.replace("?:", "").replace("(", "").replace(")", "")

    assert plain(INSTANT) == plain(f"^{instant._RFC_3339.pattern}$")
    both = f"^(?:{duration._ISO.pattern}|{duration._GO.pattern})$"
    assert plain(DURATION) == plain(both)


def test_the_schema_knows_which_attributes_exclude_and_need_one_another() -> None:
    assert (("deliverat", "delayby"), *asked._EXCLUDING) == EXCLUDING
    assert NEEDING == asked._NEEDING
    assert tuple(MEANINGS) == WISHES
