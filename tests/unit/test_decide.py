"""What is decided about messages that do not go out, and what the state is told of it."""

import json

import pytest
from flushes import NOW, SECOND, flush_of

from pipeline.outbox.decide import decided, expired
from pipeline.outbox.note import read_notes, write_note
from pipeline.outbox.publisher import Published
from pipeline.outbox.records import Shape
from pipeline.outbox.refusal import Refusal
from pipeline.outbox.report import Report
from pipeline.outbox.retry import RetryRules
from pipeline.reasons import Reason
from state import row
from state.row import Kind, Status

REFUSED = Refusal(Reason.UNKNOWN_TOPIC, "no such topic")
RULES = RetryRules(2, 3600 * SECOND, SECOND, 60 * SECOND)


def until(instant: int, **more: object) -> str:
    return json.dumps({"expires": instant, **more})


def test_a_message_expires_at_its_instant_and_not_before() -> None:
    flush = flush_of(b"a", b"b", b"c", policy=[until(NOW + 1), until(NOW), None])
    (decision,) = expired(flush, NOW).values()
    assert set(expired(flush, NOW)) == {1}
    assert set(expired(flush, NOW + 1)) == {0, 1}
    assert (decision.status, decision.reason) == (Status.EXPIRED, "expired")


def test_the_detail_says_how_late_it_was() -> None:
    flush = flush_of(b"k", due=[NOW - 5 * SECOND], policy=[until(NOW - SECOND)])
    assert expired(flush, NOW)[0].detail == (
        "scheduled for 2027-01-15T07:59:55.000Z, to be sent before 2027-01-15T07:59:59.000Z; "
        "its turn came 5000 ms late"
    )


def test_one_of_a_series_that_is_missed_is_not_sent_whatever_else_it_was_to_be_sent_by() -> None:
    missed = [json.dumps({"missed": NOW}), until(NOW + 1, missed=NOW), until(NOW, missed=NOW + 1)]
    flush = flush_of(b"a", b"b", b"c", b"d", policy=[*missed, json.dumps({"missed": NOW + 1})])
    assert set(expired(flush, NOW)) == {0, 1, 2}


def test_other_words_of_a_policy_are_no_expiry() -> None:
    policies = ['{"expireafter":1}', '{"compare":"expires"}', '{"other":{"expires":1}}']
    assert expired(flush_of(b"a", b"b", b"c", policy=policies), NOW) == {}


@pytest.mark.parametrize("kind", sorted(set(Kind) - {Kind.MESSAGE}))
def test_what_nobody_scheduled_does_not_expire(kind: Kind) -> None:
    assert expired(flush_of(b"k", kind=[kind], policy=[until(1)]), NOW) == {}


def test_a_message_that_expired_is_not_tried_whatever_kafka_says() -> None:
    flush = flush_of(b"a", b"b", policy=[until(NOW), until(NOW + 1)])
    decisions = decided(flush, {0: REFUSED, 1: REFUSED}, RULES, NOW)
    assert {n: each.status for n, each in decisions.items()} == {
        0: Status.EXPIRED,
        1: Status.PENDING,
    }


def outcomes() -> tuple[list[dict], list[dict]]:
    """What the report and the notes say of three decisions: expired, again, dead."""
    flush = flush_of(
        b"a",
        b"b",
        b"c",
        policy=[until(NOW), None, '{"retrymax":0}'],
        attempted_at=[[1, 2], None, None],
        occurrence=[3, 0, 0],
    )
    decisions = decided(flush, {1: REFUSED, 2: REFUSED}, RULES, NOW)
    report = Report()
    report.add(flush.items, Published(NOW, [None] * 3, decisions))
    notes = [write_note(item, decisions[n], "me") for n, item in enumerate(flush.items)]
    return report.take().to_pylist(), read_notes(notes, "me").to_pylist()


def test_the_report_and_the_notes_say_the_same() -> None:
    reported, noted = outcomes()
    assert reported == noted


def test_an_expired_message_bears_no_attempt_and_was_not_published() -> None:
    (late, again, dead), _ = outcomes()
    assert (late[row.STATUS], late[row.REASON]) == (Status.EXPIRED, "expired")
    assert late[row.ATTEMPT] is late[row.ATTEMPTED_AT] is late[row.PUBLISHED_AT] is None
    assert (late[row.OCCURRENCE], late[row.DUE]) == (3, None)
    assert (again[row.STATUS], again[row.ATTEMPT], again[row.DUE]) == ("pending", 1, NOW + SECOND)
    assert again[row.PUBLISHED_AT] is None
    assert (dead[row.STATUS], dead[row.ATTEMPT], dead[row.PUBLISHED_AT]) == ("dead", 1, NOW)


def test_an_expired_message_leaves_a_note_and_goes_to_the_late_topic_if_there_is_one() -> None:
    flush = flush_of(b"k", due=[NOW - SECOND], policy=[until(NOW)], output_key=[b"o"], key=[b"s"])
    (item,), (decision,) = flush.items, expired(flush, NOW).values()
    plain = Shape("dead", "internal", "markers", False, "state")
    (note,) = plain.instead(item, decision, 2, whole=True)
    assert (note.topic, note.partition) == ("internal", 2)
    late = Shape("dead", "internal", "markers", False, "state", late_topic="late")
    letter, again = late.instead(item, decision, 2, whole=True)
    assert again == note
    assert letter[:3] == ("late", b"o", b"v")
    said = {name: value for name, value in letter.headers if name != "duestream-detail"}
    assert said == {
        "duestream-reason": b"expired",
        "duestream-topic": b"in",
        "duestream-partition": b"0",
        "duestream-offset": b"0",
        "duestream-timestamp": b"0",
        "duestream-late-ms": b"1000",
        "duestream-output-topic": b"out",
    }
    empty, _ = late.instead(item, decision, 2, whole=False)
    assert empty.value is None
    assert dict(empty.headers)["duestream-value-omitted"] == b"1 bytes"
