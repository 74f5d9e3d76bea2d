"""The plan judges every event as the job does."""

import pytest
from kafka_records import frame, record
from plan_events import ASKING, COMMANDS, PLAIN

from pipeline.admit import admit
from pipeline.asked import Asking, with_policies
from pipeline.config.load import load_settings
from pipeline.deadletter import with_dead_letters
from pipeline.dialects import attributes, wishes
from pipeline.dialects.cloudevents import decode
from pipeline.dialects.json_text import DEEPEST
from pipeline.lines import command_lines, with_batch_time
from pipeline.planning import event, members
from pipeline.planning.plan import NotTaken, plan
from pipeline.topology import rules

FLAGS = {"outputs.allow": ["out", "bills.*"], "limits.max_payload_bytes": 100}
SETTINGS = load_settings(flags=FLAGS, environ={})
SENT = 1_767_268_800_000_000


def by_the_job(spark, events):
    """Return the reason of each event, None where it is taken."""
    rows = [record(value, offset=number) for number, value in enumerate(events.values())]
    commands = admit(decode(frame(spark, rows)), rules(SETTINGS))
    lines = commands.transform(command_lines).transform(with_batch_time).toArrow()
    lines = with_policies(lines, Asking(rules(SETTINGS), False, wishes.IN_META))
    found = {row["source_offset"]: row for row in with_dead_letters(lines, "dead").to_pylist()}
    return {name: found[number]["reason"] for number, name in enumerate(events)}


def by_the_plan(events):
    planned = {name: plan(value, SETTINGS, SENT, b"k") for name, value in events.items()}
    return {name: p.reason if isinstance(p, NotTaken) else None for name, p in planned.items()}


def test_what_the_dialect_decides_is_decided_alike(spark):
    assert by_the_plan(PLAIN) == by_the_job(spark, PLAIN)


@pytest.mark.parametrize("events", [ASKING, COMMANDS], ids=["asking", "commands"])
def test_what_the_driver_decides_is_decided_alike(spark, events):
    assert by_the_plan(events) == by_the_job(spark, events)


def test_the_list_has_events_that_are_taken_and_most_reasons():
    reasons = set(by_the_plan({**PLAIN, **ASKING, **COMMANDS}).values())
    assert None in reasons
    assert len(reasons) >= 22


def test_what_the_plan_knows_by_itself_is_what_the_dialect_knows():
    assert (event.REQUIRED, event.CARRIED) == (attributes.REQUIRED, attributes.CARRIED)
    assert set(attributes.WISHES) <= set(event.WISHES)
    assert set(wishes._CAMEL) <= set(event.IN_META.values())
    assert members.DEEPEST == DEEPEST


def test_keys_are_held_to_the_limits_and_to_being_there():
    [value] = [PLAIN["at once"]]
    assert plan(value, SETTINGS, SENT, b"").reason == "missing_key"
    assert plan(value, SETTINGS, SENT, b"x" * 65_537).reason == "key_too_large"
    assert plan(value, SETTINGS, SENT).message.topic == "out"
