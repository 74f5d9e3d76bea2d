"""Reads Karafka's scheduled messages: what to do is in headers, the value is the payload.

Their producers may place records by a partition key, so the same key on two partitions names two
schedules. Where a message goes by a partition key of its own is for its producer to compute, and
needs to know how many partitions the topic has when the message goes out. Here a message goes by
its key, or to the partition that is named. To take the partition key for the key would change
what consumers see; so a partition key that differs from the key, with no partition, is refused.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.dialects.epochs import Unit, epoch_micros, epoch_rules, missing
from pipeline.dialects.headers import first_of_each, header, with_more, without_own_marks
from pipeline.dialects.record import as_it_came, foreign_lines
from pipeline.identity import schedule_identity
from pipeline.raw import RAW_VALUE
from pipeline.reasons import Reason
from pipeline.refuse import Rule
from pipeline.withdraw import SCHEDULED_ON
from state.row import (
    DUE,
    HEADERS,
    IDENTITY,
    KEY,
    OUTPUT_KEY,
    OUTPUT_PARTITION,
    OUTPUT_TOPIC,
    PAYLOAD,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TOPIC,
)

VERSION = "schedule_schema_version"
SOURCE_TYPE = "schedule_source_type"
EPOCH = "schedule_target_epoch"
TARGET_TOPIC = "schedule_target_topic"
TARGET_KEY = "schedule_target_key"
TARGET_PARTITION = "schedule_target_partition"
PARTITION_KEY = "schedule_target_partition_key"
_TEXTS = (VERSION, SOURCE_TYPE, EPOCH, TARGET_TOPIC, TARGET_PARTITION, PARTITION_KEY)

_NAMED, _SAID = "_named", "_said"
_KNOWN = {VERSION: "1.0.0", SOURCE_TYPE: "schedule"}
_PARTITION = r"\A\d{1,10}\z"


def decode(records: DataFrame) -> DataFrame:
    """Turn Kafka records into commands, as pipeline.dialects.cloudevents does."""
    texts = [header(F.col(_NAMED), name).cast("string").alias(name) for name in _TEXTS]
    identity = schedule_identity(F.col(SCHEDULED_ON), F.col(KEY), F.col(SOURCE_PARTITION))
    return (
        records.transform(without_own_marks)
        .transform(as_it_came)
        .withColumn(_NAMED, first_of_each())
        .withColumn(_SAID, F.struct(*texts))
        .withColumn(DUE, epoch_micros(_said(EPOCH), Unit.SECONDS))
        .transform(foreign_lines, _rules(), _content(), _facts(), {IDENTITY: identity})
    )


def _said(name: str) -> Column:
    return F.col(_SAID)[name]


def _rules() -> list[Rule]:
    return [
        *[rule for name, known in _KNOWN.items() for rule in _must_be(name, known)],
        *epoch_rules(EPOCH, _said(EPOCH), Unit.SECONDS),
        missing(TARGET_TOPIC, _said(TARGET_TOPIC), "the name of the topic to publish to"),
        Rule(
            ~F.is_valid_utf8(_said(TARGET_TOPIC)),
            Reason.INVALID_FIELD,
            f"{TARGET_TOPIC}{{target}} is not UTF-8; send the name of the topic to publish to",
        ),
        *_rules_of_partition(),
    ]


def _must_be(name: str, known: str) -> list[Rule]:
    return [
        missing(name, _said(name), known),
        Rule(
            _said(name) != known,
            Reason.INVALID_FIELD,
            f"{name}{{{name}}} is not known; send {known}",
        ),
    ]


def _rules_of_partition() -> list[Rule]:
    partition, by = _said(TARGET_PARTITION), header(F.col(_NAMED), PARTITION_KEY)
    is_partition = partition.rlike(_PARTITION) & partition.try_cast("int").isNotNull()
    by_key = F.coalesce(by == header(F.col(_NAMED), TARGET_KEY), F.lit(False))
    return [
        Rule(
            partition.isNotNull() & ~is_partition,
            Reason.INVALID_PARTITION,
            f"{TARGET_PARTITION}{{partition}} is not a partition; send a whole number from 0",
        ),
        Rule(
            by.isNotNull() & partition.isNull() & ~by_key,
            Reason.INVALID_PARTITION,
            f"{PARTITION_KEY}{{partition_key}} cannot be followed; send {TARGET_PARTITION}, or the "
            f"same text as {TARGET_KEY}",
        ),
    ]


def _content() -> dict[str, Column]:
    trace = {
        "duestream-source-topic": F.col(SOURCE_TOPIC),
        "duestream-source-partition": F.col(SOURCE_PARTITION).cast("string"),
        "duestream-source-offset": F.col(SOURCE_OFFSET).cast("string"),
        "duestream-source-key": F.col(KEY),
    }
    return {
        OUTPUT_TOPIC: _said(TARGET_TOPIC),
        OUTPUT_PARTITION: _said(TARGET_PARTITION).try_cast("int"),
        OUTPUT_KEY: header(F.col(_NAMED), TARGET_KEY),
        PAYLOAD: F.col(RAW_VALUE),
        HEADERS: with_more(trace),
        DUE: F.col(DUE),
    }


def _facts() -> dict[str, Column]:
    return {
        "time": _said(EPOCH),
        "target": _said(TARGET_TOPIC),
        "partition": _said(TARGET_PARTITION),
        "partition_key": _said(PARTITION_KEY),
        **{name: _said(name) for name in _KNOWN},
    }
