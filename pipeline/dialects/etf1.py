"""Reads schedules of etf1/kafka-message-scheduler: headers say where and when.

The value is the payload. An empty one is a payload of no bytes, not a cancel. A blank key names
nothing: it is refused, whether it comes with a value or as a cancel.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.dialects.epochs import Unit, epoch_micros, epoch_rules, missing
from pipeline.dialects.headers import first_of_each, header, with_more, without_own_marks
from pipeline.dialects.marks import ETF1_KEY, ETF1_TIMESTAMP, ETF1_TOPIC
from pipeline.dialects.record import as_it_came, foreign_lines
from pipeline.raw import RAW_VALUE
from pipeline.reasons import Reason
from pipeline.refuse import Rule, refuse
from state.row import (
    DUE,
    HEADERS,
    KEY,
    OUTPUT_KEY,
    OUTPUT_TOPIC,
    PAYLOAD,
    SOURCE_TIMESTAMP,
    SOURCE_TOPIC,
)

EPOCH = "scheduler-epoch"
TARGET_TOPIC = "scheduler-target-topic"
TARGET_KEY = "scheduler-target-key"

_NAMED, _TIME, _TOPIC, _TO_KEY = "_named", "_time", "_topic", "_to_key"
_BLANK = r"\A\s+\z"
_SECOND = 1_000_000


def decode(records: DataFrame) -> DataFrame:
    """Turn Kafka records into commands, as pipeline.dialects.cloudevents does."""
    named = F.col(_NAMED)
    return (
        records.transform(without_own_marks)
        .transform(as_it_came)
        .withColumn(_NAMED, first_of_each())
        .withColumns(
            {
                _TIME: header(named, EPOCH).cast("string"),
                _TOPIC: header(named, TARGET_TOPIC).cast("string"),
                _TO_KEY: header(named, TARGET_KEY),
            }
        )
        .withColumn(DUE, epoch_micros(F.col(_TIME), Unit.SECONDS))
        .transform(refuse, [_blank_key()])
        .transform(foreign_lines, _rules(), _content(), _facts())
    )


def _blank_key() -> Rule:
    return Rule(
        F.col(KEY).cast("string").rlike(_BLANK),
        Reason.MISSING_KEY,
        "the key of the record is blank; send it with one that names the schedule",
    )


def _rules() -> list[Rule]:
    return [
        *epoch_rules(EPOCH, F.col(_TIME), Unit.SECONDS),
        missing(TARGET_TOPIC, F.col(_TOPIC), "the name of the topic to publish to"),
        Rule(
            ~F.is_valid_utf8(F.col(_TOPIC)),
            Reason.INVALID_FIELD,
            f"{TARGET_TOPIC}{{target}} is not UTF-8; send the name of the topic to publish to",
        ),
    ]


def _content() -> dict[str, Column]:
    return {
        OUTPUT_TOPIC: F.col(_TOPIC),
        OUTPUT_KEY: F.when(F.octet_length(_TO_KEY) > 0, F.col(_TO_KEY)),
        PAYLOAD: F.col(RAW_VALUE),
        HEADERS: with_more(
            {
                ETF1_TIMESTAMP: F.floor(F.col(SOURCE_TIMESTAMP) / _SECOND)
                .cast("long")
                .cast("string"),
                ETF1_KEY: F.col(KEY),
                ETF1_TOPIC: F.col(SOURCE_TOPIC),
            }
        ),
        DUE: F.col(DUE),
    }


def _facts() -> dict[str, Column]:
    return {"time": F.col(_TIME), "target": F.col(_TOPIC)}
