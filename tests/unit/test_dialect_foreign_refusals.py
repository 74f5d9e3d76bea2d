"""Why records of foreign dialects are refused."""

import json

import pytest
from foreign_records import (
    KMS_JSON,
    decode_foreign,
    etf1,
    karafka,
    kms_avro,
    kms_json,
    mongo,
)
from kafka_records import record
from test_avro_schedule import SCHEDULES, encode

from pipeline.reasons import Reason

GOOD = SCHEDULES["four fields"]

# Of each reason: the record, and what the detail must mention.
REFUSED = {
    Reason.MISSING_FIELD: {
        "etf1 without topic": (etf1({"scheduler-target-topic": ""}), "scheduler-target-topic"),
        "etf1 name in capitals": (
            etf1({"scheduler-epoch": "", "Scheduler-Epoch": "1"}),
            "scheduler-epoch is missing",
        ),
        "karafka without version": (
            karafka({"schedule_schema_version": ""}),
            "schedule_schema_version is missing",
        ),
        "karafka without epoch": (karafka({"schedule_target_epoch": ""}), "whole seconds"),
        "kms without key": (kms_json({"key": None}), "base64"),
        "kms without time": (kms_json({"time": ...}), "milliseconds"),
        "kms without topic": (kms_avro(encode(GOOD._replace(topic=""))), "topic is missing"),
        "mongo without type": (mongo({"type": ...}), "Delayed"),
        "mongo without time": (mongo({"publishAt": None}), "publishAt is missing"),
    },
    Reason.INVALID_FIELD: {
        "etf1 topic not UTF-8": (etf1({"scheduler-target-topic": b"\xff"}), "UTF-8"),
        "karafka topic not UTF-8": (karafka({"schedule_target_topic": b"\xff"}), "UTF-8"),
        "karafka of a later version": (karafka({"schedule_schema_version": "2.0.0"}), "'2.0.0'"),
        "karafka of another type": (karafka({"schedule_source_type": "cancel"}), "'cancel'"),
        "mongo of another type": (mongo({"type": "Now"}), "'Now'"),
        "kms key as a number": (kms_json({"key": 1234}), "'key' is not a string"),
        "mongo key as an object": (mongo({"partitionKey": {"a": 1}}), "'partitionKey'"),
    },
    Reason.INVALID_TIME: {
        "etf1 with a fraction": (etf1({"scheduler-epoch": "1.5"}), "'1.5'"),
        "etf1 with a blank": (etf1({"scheduler-epoch": " 1"}), "digits only"),
        "etf1 not UTF-8": (etf1({"scheduler-epoch": b"\xff"}), "scheduler-epoch"),
        "karafka in other digits": (karafka({"schedule_target_epoch": "\u0661"}), "digits only"),
        "kms with a fraction": (kms_json({"time": 1.5}), "'1.5'"),
        "kms as an instant": (kms_json({"time": "2030-01-01T00:00:00Z"}), "milliseconds"),
        "kms as an object": (kms_json({"time": {"a": 1}}), "time"),
        "mongo without offset": (mongo({"publishAt": "2030-01-01T00:00:00"}), "publishAt"),
    },
    Reason.INVALID_JSON: {
        "kms with text after": (record(json.dumps(KMS_JSON).encode() + b"x", topic="kms-json"), ""),
        "kms headers as text": (kms_json({"headers": "x"}), "headers is an object"),
        "kms with half a surrogate": (
            record(json.dumps({**KMS_JSON, "x": "\ud800"}).encode(), topic="kms-json"),
            "surrogate",
        ),
        "mongo as an array": (record(b"[]", topic="cloudevents-mongo"), "one JSON object"),
    },
    Reason.INVALID_BASE64: {
        "kms key": (kms_json({"key": "a"}), "key 'a'"),
        "kms value with letters of URLs": (kms_json({"value": "-_-_"}), "value '-_-_'"),
        "kms value half padded": (kms_json({"value": "QQ="}), "'QQ='"),
        "kms header": (kms_json({"headers": {"a": "eA==", "b": "?"}}), "headers"),
        "kms null as a header": (kms_json({"headers": {"b": None}}), "headers"),
    },
    Reason.INVALID_PARTITION: {
        "karafka below zero": (karafka({"schedule_target_partition": "-1"}), "'-1'"),
        "karafka too large": (karafka({"schedule_target_partition": "9999999999"}), "partition"),
        "karafka by another key": (
            karafka({"schedule_target_key": "a", "schedule_target_partition_key": "b"}),
            "schedule_target_partition_key 'b'",
        ),
        "karafka by a key of none": (
            karafka({"schedule_target_partition_key": "b"}),
            "or the same text as schedule_target_key",
        ),
    },
    Reason.INVALID_MESSAGE: {"mongo with an object": (mongo({"message": {"a": 1}}), "message")},
    Reason.TOPIC_NOT_ALLOWED: {
        "etf1 elsewhere": (etf1({"scheduler-target-topic": "elsewhere"}), "outputs.allow"),
    },
    Reason.INVALID_TOPIC: {
        "kms to no topic": (kms_avro(encode(GOOD._replace(topic="a b"))), "'a b'"),
    },
}
CASES = {(reason, name): case for reason, of in REFUSED.items() for name, case in of.items()}


@pytest.fixture(scope="module")
def refused(spark):
    return decode_foreign(spark, {case: row for case, (row, _) in CASES.items()})


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_what_cannot_be_followed_is_refused_with_a_reason_and_a_way_out(refused, case):
    found = refused[case]
    assert (found.reason, CASES[case][1] in found.detail) == (case[0], True), found.detail
    assert (found.entry, found.output_topic) == ("reject", "dead")
