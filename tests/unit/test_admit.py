import pytest
from chispa import assert_df_equality
from kafka_records import as_the_driver_sees, frame, record, structured

from pipeline.admit import AdmitRules, admit
from pipeline.dialects.cloudevents import decode
from pipeline.reasons import Reason
from state.errors import ConfigError

RULES = AdmitRules(
    allow=("orders", "bills.*", "sms-?", "__mine"),
    max_payload_bytes=10,
    max_key_bytes=4,
    reserved=("in", "bills.dead"),
)
TOPICS = {
    "orders": None,
    "bills.": None,
    "bills.de": None,
    "sms-1": None,
    "__mine": None,
    "orders2": Reason.TOPIC_NOT_ALLOWED,
    "myorders": Reason.TOPIC_NOT_ALLOWED,
    "billsXde": Reason.TOPIC_NOT_ALLOWED,
    "sms-12": Reason.TOPIC_NOT_ALLOWED,
    "Orders": Reason.TOPIC_NOT_ALLOWED,
    "in": Reason.RESERVED_TOPIC,
    "bills.dead": Reason.RESERVED_TOPIC,
    "bills./": Reason.INVALID_TOPIC,
    "orders\n": Reason.INVALID_TOPIC,
    "..": Reason.INVALID_TOPIC,
    "bills." + "x" * 244: Reason.INVALID_TOPIC,
    "bills." + "x" * 243: None,
}


def _admitted(spark, rows, rules=RULES):
    commands = admit(decode(frame(spark, rows)), rules)
    return sorted(as_the_driver_sees(commands), key=lambda row: row.source_offset)


def test_only_topics_that_are_allowed_legal_and_not_reserved_are_published_to(spark):
    rows = [
        record(structured({"outputtopic": topic}), offset=number)
        for number, topic in enumerate(TOPICS)
    ]
    found = {row.source_offset: row.reason for row in _admitted(spark, rows)}
    assert {topic: found[number] for number, topic in enumerate(TOPICS)} == TOPICS


def test_a_wildcard_does_not_reach_the_topics_of_kafka_itself(spark):
    rows = [record(structured({"outputtopic": "__consumer_offsets"}))]
    everything = AdmitRules(("*",), 10, 10)
    assert _admitted(spark, rows, everything)[0].reason == Reason.TOPIC_NOT_ALLOWED


def test_without_an_allow_list_nothing_is_published(spark):
    found = _admitted(spark, [record(structured())], AdmitRules((), 10, 10))
    assert found[0].reason == Reason.TOPIC_NOT_ALLOWED


def test_sizes_and_keys_are_held_to_the_limits(spark):
    good = {"outputtopic": "orders"}
    rows = [
        record(structured({**good, "data": "x" * 10}), key=b"1234", offset=0),
        record(structured({**good, "data": "x" * 11}), offset=1),
        record(structured(good), key=b"12345", offset=2),
        record(structured(good), key=None, offset=3),
        record(structured(good), key=b"", offset=4),
    ]
    reasons = [row.reason for row in _admitted(spark, rows)]
    large, keyless = [Reason.PAYLOAD_TOO_LARGE, Reason.KEY_TOO_LARGE], [Reason.MISSING_KEY] * 2
    assert reasons == [None, *large, *keyless]


def test_a_detail_names_the_setting_to_change(spark):
    row = record(structured({"outputtopic": "orders", "data": "x" * 11}))
    found = _admitted(spark, [row])[0]
    assert "11 bytes" in found.detail and "limits.max_payload_bytes" in found.detail


def test_a_cancel_needs_nothing_but_a_key(spark):
    found = _admitted(spark, [record(None, offset=0), record(None, key=None, offset=1)])
    assert [(row.entry, row.reason) for row in found] == [
        ("cancel", None),
        ("reject", Reason.MISSING_KEY),
    ]


def test_the_reason_a_record_has_already_is_kept(spark):
    found = _admitted(spark, [record(b"hello", key=None)])[0]
    assert (found.reason, "hello" in found.detail) == (Reason.INVALID_JSON, True)


def test_what_breaks_no_rule_is_left_as_it_is(spark):
    rows = [record(structured({"outputtopic": "orders", "data": 1})), record(None, offset=1)]
    commands = decode(frame(spark, rows))
    assert_df_equality(admit(commands, RULES), commands, ignore_nullable=True)


def test_a_pattern_that_no_topic_can_match_is_a_mistake_in_the_settings():
    with pytest.raises(ConfigError, match=r"outputs\.allow.*'a b'"):
        AdmitRules(("a b",), 1, 1)
