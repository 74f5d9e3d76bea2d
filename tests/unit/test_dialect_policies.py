"""What events ask for besides, and commands, from the record to the driver."""

import pytest
from kafka_records import SENT_MICROS, binary, decode_all, record, structured, with_meta

from pipeline.commands import Command, Scope
from pipeline.control import Control
from pipeline.raw import CONTROL
from state.rules.policy import Policy
from state.rules.repeat import OnMiss, Repeat
from state.rules.same_policy import SamePolicy

HOUR = 3_600_000_000
META = {"outputTopic": "out"}


def command(kind: Command, **attributes: object) -> bytes:
    return structured({"type": kind.type, **attributes}, without="outputtopic")


EVENTS = {
    "plain": record(structured()),
    "retries only": record(structured({"retrymax": 2, "retryfor": "PT1M"})),
    "an interval": record(structured({"delayby": "1h", "repeatevery": "PT2H", "repeatcount": 3})),
    "cron": record(
        b"x",
        binary({"repeatcron": "0 9 * * *", "repeattz": "Europe/Berlin", "repeatfor": "P7D"}),
    ),
    "metaData": record(with_meta({**META, "repeatEvery": "1h", "repeatCount": 2, "onMiss": "all"})),
    "expires": record(structured({"delayby": "1h", "expireafter": "30m"})),
    "keep": record(structured({"onsameid": "keep"})),
    "compares": record(
        b'{"price": 1.50}', binary({"onsameid": "ignoreduplicate", "comparefield": "$.price"})
    ),
    "settles": record(structured({"onsameid": "settle", "settlefor": "5s", "settlemax": "1m"})),
    "tombstone": record(None),
    "a bare cancel": record(command(Command.CANCEL)),
    "a cancel with a reason": record(command(Command.CANCEL, reason="paid", ifversion="0-17")),
    "a move": record(command(Command.RESCHEDULE, delayby="1h", actor="ada", replyto="replies")),
    "a binary order": record(
        b"", binary({"type": Command.SEND_NOW.type, "reason": "now"}, without="outputtopic")
    ),
    "a pause of a topic": record(
        structured({"type": Command.PAUSE.type, "scope": "topic"}), key=None
    ),
}


@pytest.fixture(scope="module")
def read(spark):
    return decode_all(spark, EVENTS)


def policy(found) -> Policy:
    return Policy.from_json(found.policy)


def test_an_event_that_asks_for_nothing_has_no_policy(read):
    assert (read["plain"].policy, read["plain"].due) == (None, SENT_MICROS)


def test_retries_are_kept(read):
    assert policy(read["retries only"]) == Policy(retrymax=2, retryfor=60_000_000)


def test_an_interval_is_anchored_at_the_first_occurrence(read):
    found = read["an interval"]
    assert policy(found).repeat == Repeat(every=2 * HOUR, count=3, anchor=SENT_MICROS + HOUR)
    assert (found.due, found.entry) == (SENT_MICROS + HOUR, "put")
    assert '"series"' in found.policy


def test_a_repeat_by_cron_is_first_due_at_its_next_match(read):
    found = read["cron"]
    assert found.due == SENT_MICROS + 20 * HOUR  # nine in Berlin is eight in UTC
    assert policy(found).repeat.until == found.due + 7 * 24 * HOUR


def test_the_second_form_asks_in_camel_case(read):
    assert policy(read["metaData"]).repeat == Repeat(
        every=HOUR, count=2, anchor=SENT_MICROS, on_miss=OnMiss.ALL
    )


def test_an_expiry_counts_from_the_time_of_delivery(read):
    assert policy(read["expires"]).expires == SENT_MICROS + HOUR + HOUR // 2


def test_policies_for_the_same_key_carry_what_they_compare(read):
    assert policy(read["keep"]).same.policy is SamePolicy.KEEP
    assert policy(read["compares"]).compare == "1.5"
    assert read["compares"].payload == b'{"price": 1.50}'


def test_a_settling_event_is_due_when_nothing_else_comes(read):
    assert read["settles"].due == SENT_MICROS + 5_000_000
    assert policy(read["settles"]).first == SENT_MICROS


@pytest.mark.parametrize("case", ["tombstone", "a bare cancel"])
def test_a_cancel_that_says_no_more_is_just_that(read, case):
    assert (read[case].entry, read[case].policy) == ("cancel", None)


def test_a_command_carries_who_why_and_on_which_condition(read):
    found = read["a cancel with a reason"]
    said = Control.from_json(found.policy)
    assert found.entry == CONTROL
    assert said == Control(Command.CANCEL, "1", "/s", "paid", "0-17")


def test_a_reschedule_has_its_instant_and_where_to_answer(read):
    said = Control.from_json(read["a move"].policy)
    assert (said.at, said.actor, said.reply_to) == (SENT_MICROS + HOUR, "ada", "replies")


def test_a_command_may_come_in_binary_mode(read):
    said = Control.from_json(read["a binary order"].policy)
    assert (said.command, said.reason) == (Command.SEND_NOW, "now")


def test_a_pause_of_a_topic_needs_no_key(read):
    said = Control.from_json(read["a pause of a topic"].policy)
    assert (said.scope, said.topic) == (Scope.TOPIC, "out")
