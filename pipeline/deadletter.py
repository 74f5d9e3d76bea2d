"""Turns what is refused into a dead letter: the record as it came, and headers that say why."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.identity import rejection_identity
from pipeline.raw import RAW_HEADERS, RAW_VALUE
from state.row import (
    COMMANDS,
    DETAIL,
    DUE,
    ENTRY,
    HASH,
    HEADERS,
    IDENTITY,
    KEY,
    KIND,
    OUTPUT_KEY,
    OUTPUT_PARTITION,
    OUTPUT_TOPIC,
    PAYLOAD,
    REASON,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TIMESTAMP,
    SOURCE_TOPIC,
    Entry,
    Kind,
)
from state.version import Version

REASON_HEADER = "duestream-reason"
DETAIL_HEADER = "duestream-detail"
TOPIC_HEADER = "duestream-topic"
PARTITION_HEADER = "duestream-partition"
OFFSET_HEADER = "duestream-offset"
TIMESTAMP_HEADER = "duestream-timestamp"  # milliseconds, as Kafka counts

_MICROS_A_MILLI = 1000
_NO_HEADERS = "array<struct<key:string,value:binary>>"


def as_dead_letter(commands: DataFrame, topic: str) -> DataFrame:
    """Make every command with a reason a rejection to be published on ``topic``."""
    refused = F.col(REASON).isNotNull()
    changed = {
        name: F.when(refused, value).otherwise(F.col(name)).alias(name)
        for name, value in _rejection(topic).items()
    }
    columns = [changed.get(name, F.col(name)) for name in COMMANDS.names]
    return commands.select(*columns).withColumn(HASH, F.crc32(F.col(IDENTITY)))


def dead_letter_headers(reason: str, detail: str, version: Version) -> list[tuple[str, bytes]]:
    """Return the headers that say why, for a message that could not be published."""
    said = {
        REASON_HEADER: reason,
        DETAIL_HEADER: detail,
        TOPIC_HEADER: version.topic,
        PARTITION_HEADER: version.partition,
        OFFSET_HEADER: version.offset,
        TIMESTAMP_HEADER: version.timestamp // _MICROS_A_MILLI,
    }
    return [(name, str(value).encode()) for name, value in said.items()]


def _rejection(topic: str) -> dict[str, Column]:
    return {
        ENTRY: F.lit(Entry.REJECT.value),
        IDENTITY: rejection_identity(
            F.col(SOURCE_TOPIC), F.col(SOURCE_PARTITION), F.col(SOURCE_OFFSET)
        ),
        KIND: F.lit(Kind.REJECTION.value),
        OUTPUT_TOPIC: F.lit(topic),
        OUTPUT_PARTITION: F.lit(None),
        OUTPUT_KEY: F.col(KEY),
        PAYLOAD: F.col(RAW_VALUE),
        HEADERS: F.concat(
            F.coalesce(F.col(RAW_HEADERS), F.array().cast(_NO_HEADERS)), _why_headers()
        ),
        DUE: F.col(SOURCE_TIMESTAMP),
    }


def _why_headers() -> Column:
    milliseconds = F.floor(F.col(SOURCE_TIMESTAMP) / _MICROS_A_MILLI)
    said = {
        REASON_HEADER: F.col(REASON),
        DETAIL_HEADER: F.col(DETAIL),
        TOPIC_HEADER: F.col(SOURCE_TOPIC),
        PARTITION_HEADER: F.col(SOURCE_PARTITION),
        OFFSET_HEADER: F.col(SOURCE_OFFSET),
        TIMESTAMP_HEADER: milliseconds,
    }
    return F.array(*[_header(name, value) for name, value in said.items()])


def _header(name: str, value: Column) -> Column:
    text = value.cast("string").cast("binary")
    return F.struct(F.lit(name).alias("key"), text.alias("value"))
