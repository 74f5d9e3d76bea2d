"""The commands the client writes, read back with the CloudEvents SDK."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from cloudevents.core.bindings.kafka import KafkaMessage, from_structured_event

from pipeline.client import Receipt
from pipeline.commands import Command
from pipeline.event import Record, ScheduleError
from pipeline.orders import Remarks, order_record, reschedule_record, scope_record

NOON = datetime(2030, 1, 31, 12, tzinfo=UTC)
ALL = Remarks(reason="paid", actor="ada", if_version="3-17", reply_to="replies")


def said(record: Record) -> dict[str, object]:
    """Return the event without what every event has."""
    assert record.value is not None
    event = from_structured_event(KafkaMessage(dict(record.headers), record.key, record.value))
    assert event.get_id() == record.id
    body: dict[str, object] = json.loads(record.value)
    return {k: v for k, v in body.items() if k not in ("id", "source", "specversion", "time")}


@pytest.mark.parametrize("command", Command)
def test_a_command_is_an_event_with_a_value_and_says_all_that_was_remarked(
    command: Command,
) -> None:
    assert said(order_record(command, b"k", ALL)) == {
        "type": command.type,
        "reason": "paid",
        "actor": "ada",
        "ifversion": "3-17",
        "replyto": "replies",
    }


def test_a_command_without_remarks_says_nothing_more() -> None:
    assert said(order_record(Command.SEND_NOW, b"k", Remarks())) == {
        "type": "io.duestream.sendnow.v1"
    }


def test_a_reschedule_says_when() -> None:
    at = reschedule_record(b"k", NOON, None, Remarks())
    after = reschedule_record(b"k", None, timedelta(minutes=15), Remarks())
    assert said(at)["deliverat"] == "2030-01-31T12:00:00Z"
    assert said(after)["delayby"] == "PT900S"


def test_a_pause_is_of_a_key_of_a_topic_or_of_all() -> None:
    key = scope_record(Command.PAUSE, b"k", None, False, Remarks())
    topic = scope_record(Command.PAUSE, None, "orders", False, Remarks())
    everything = scope_record(Command.RESUME, None, None, True, Remarks(reason="x"))
    assert (key.key, said(key)) == (b"k", {"type": "io.duestream.pause.v1"})
    assert (topic.key, said(topic)["scope"], said(topic)["outputtopic"]) == (
        b"topic",
        "topic",
        "orders",
    )
    assert (everything.key, said(everything)) == (
        b"all",
        {"type": "io.duestream.resume.v1", "scope": "all", "reason": "x"},
    )


def test_a_receipt_names_the_version_it_made() -> None:
    assert Receipt("1", b"k", "t", 2, 40).version == "2-40"
    with pytest.raises(ScheduleError, match="if_version: this receipt does not know its offset"):
        _ = Receipt("1", b"k", "t").version


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: order_record(Command.CANCEL, b"", Remarks()), "key: is empty"),
        (lambda: order_record(Command.CANCEL, b"k", Remarks(if_version="17")), "if_version: '17'"),
        (lambda: order_record(Command.CANCEL, b"k", Remarks(reply_to="a b")), "reply_to: 'a b'"),
        (lambda: reschedule_record(b"k", None, None, Remarks()), "at, delay: give one"),
        (lambda: reschedule_record(b"k", NOON, "1s", Remarks()), "at, delay: give one"),
        (lambda: reschedule_record(b"k", NOON.replace(tzinfo=None), None, Remarks()), "at: .*zone"),
        (lambda: scope_record(Command.PAUSE, None, None, False, ALL), "key, topic, everything"),
        (lambda: scope_record(Command.PAUSE, b"k", "t", False, ALL), "key, topic, everything"),
        (lambda: scope_record(Command.PAUSE, None, "a b", False, Remarks()), "topic: 'a b'"),
        (lambda: scope_record(Command.PAUSE, None, None, True, ALL), "if_version: names"),
    ],
)
def test_a_command_that_cannot_be_is_refused_by_the_name_of_the_argument(
    make: object, sentence: str
) -> None:
    assert callable(make)
    with pytest.raises(ScheduleError, match=sentence):
        make()
