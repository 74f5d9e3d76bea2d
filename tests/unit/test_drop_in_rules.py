"""What follows a message in place of another scheduler, and where it is asked for in vain."""

import pytest
from flushes import NOW, flush_of

from pipeline.config.load import load_settings
from pipeline.outbox.decision import Decision
from pipeline.outbox.drop_in import DropIn, Replaced
from pipeline.outbox.record import Record
from pipeline.outbox.records import Shape
from pipeline.reasons import Reason
from state.errors import ConfigError
from state.row import Kind, Status

HEADERS = [{"key": "scheduler-key", "value": b"id"}, {"key": "x", "value": None}]
PAIRS = [("scheduler-key", b"id"), ("x", None)]


def following(dialect: str, decided: dict | None = None, whole: bool = True, **columns: list):
    """What follows one message of the source ``in``, partition 5, with the key ``id``."""
    history = "history" if dialect == "etf1" else None
    drop_in = DropIn({"in": Replaced(dialect, history)})
    shape = Shape("dead", "internal", "markers", False, "state", drop_in=drop_in)
    given = {"output_key": [b"target"], "source_partition": [5], "headers": [HEADERS]} | columns
    flush = flush_of(b"id", **given)
    return list(shape.following(flush, decided or {}, NOW, whole=whole))


@pytest.mark.parametrize("dialect", ["kms-avro", "kms-json"])
def test_kms_marks_what_is_out_with_its_own_header_alone(dialect):
    assert following(dialect) == [Record("in", b"id", None, [("schedule:expired", b"true")], 5)]


def test_etf1_marks_it_with_the_headers_of_the_message_and_keeps_it_by_its_target_key():
    assert following("etf1") == [
        Record("in", b"id", None, [*PAIRS, ("duestream-ended", b"done")], 5),
        Record("history", b"target", b"v", PAIRS),
    ]


def test_karafka_marks_it_on_the_partition_of_the_schedule():
    assert following("karafka") == [Record("in", b"id", None, [("duestream-ended", b"done")], 5)]


@pytest.mark.parametrize("dialect", ["kms-avro", "kms-json", "etf1", "karafka"])
def test_what_will_never_be_sent_is_marked_and_what_is_tried_again_is_not(dialect):
    def of(status: Status) -> list[Record]:
        return following(dialect, {0: Decision(status, Reason.UNKNOWN_TOPIC, "no topic", NOW)})

    assert of(Status.PENDING) == []
    for status in (Status.DEAD, Status.EXPIRED):
        (mark,) = of(status)  # no history of what was not sent
        assert (mark.topic, mark.key, mark.value, mark.partition) == ("in", b"id", None, 5)
        assert mark.headers[-1] == ("duestream-ended", status.value.encode())
        assert ("schedule:expired", b"true") in mark.headers or "kms" not in dialect


def test_a_topic_that_takes_no_large_record_gets_what_must_be_there():
    mark, kept = following("etf1", whole=False)
    assert mark == Record("in", b"id", None, [("duestream-ended", b"done")], 5)
    assert kept == Record("history", b"target", None, [("duestream-value-omitted", b"1 bytes")])


def test_nothing_follows_what_came_by_another_topic_or_was_never_scheduled():
    assert following("etf1", source_topic=["other"]) == []
    assert following("etf1", kind=[Kind.REJECTION]) == []
    assert following("etf1", kind=[Kind.COMMAND]) == []


def _refusal(*sources: dict, **flags: object) -> str:
    with pytest.raises(ConfigError) as caught:
        load_settings(flags={"sources": list(sources)} | flags, environ={})
    return str(caught.value)


@pytest.mark.parametrize("dialect", ["cloudevents", "cloudevents-mongo"])
def test_where_no_scheduler_leaves_marks_none_is_replaced(dialect):
    to = {"output_topic": "out"} if "mongo" in dialect else {}
    refusal = _refusal({"topic": "a", "dialect": dialect, "drop_in": True} | to)
    assert refusal.startswith(f"sources[0].drop_in: is of no use with sources[0].dialect {dialect}")
    assert refusal.endswith("leave it out")


def test_only_etf1_has_a_history_and_only_in_place_of_it():
    first = {"topic": "a", "dialect": "kms-json", "drop_in": True, "history_topic": "h"}
    second = {"topic": "b", "dialect": "etf1", "history_topic": "h"}
    assert _refusal(first, second).splitlines() == [
        "sources[0].history_topic: is of no use with sources[0].dialect kms-json; only etf1 has "
        "one",
        "sources[1].history_topic: is of no use without sources[1].drop_in; set that to true, or "
        "leave this out",
    ]


ETF1 = {"dialect": "etf1", "drop_in": True, "history_topic": "h"}


def test_the_history_is_the_jobs_own_and_sources_may_share_it():
    sources = [{"topic": "a"} | ETF1, {"topic": "b"} | ETF1]
    settings = load_settings(flags={"sources": sources}, environ={})
    assert settings.history_topics == {"h"}
    assert "h" in settings.reserved_topics
    refusal = _refusal(*sources, **{"outputs.allow": "h"})
    assert refusal.startswith("outputs.allow[0]: h is a topic the job itself reads or writes")
    refusal = _refusal(*sources, {"topic": "h"})
    assert refusal.startswith("sources[0].history_topic: h is already sources[2].topic")
    refusal = _refusal(*sources, withdraw=[{"topic": "h", "source": "a"}])
    assert refusal.startswith("withdraw[0].topic: h is also one of sources[].history_topic")
