"""Reads records of other topics as cancels: an order that is paid withdraws its reminder.

Such a record becomes a tombstone for the schedule it is about, at its own place: its topic,
partition, offset and timestamp. So it counts as newer than a schedule that was sent before it, and
as older than one sent after it.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.config.blocks import WithdrawSettings

SCHEDULED_ON = "_scheduled_on"  # the source topic whose schedule a record is about

_ABOUT = "_about"
_TYPE = "struct<topic: string, key: binary, value: binary>"


def with_withdrawals(records: DataFrame, rules: Sequence[WithdrawSettings]) -> DataFrame:
    """Add SCHEDULED_ON; records of the topics in ``rules`` become tombstones, or nothing."""
    if not rules:
        return records.withColumn(SCHEDULED_ON, F.col("topic"))
    itself = F.struct(F.col("topic").alias("topic"), "key", "value").cast(_TYPE)
    about = F.array_compact(F.array(*map(_about, rules)))
    watched = F.col("topic").isin(*{rule.topic for rule in rules})
    return records.withColumn(
        _ABOUT, F.explode(F.when(watched, about).otherwise(F.array(itself)))
    ).select(
        F.col(_ABOUT)["key"].alias("key"),
        F.col(_ABOUT)["value"].alias("value"),
        F.col(_ABOUT)["topic"].alias(SCHEDULED_ON),
        "topic",
        "partition",
        "offset",
        "timestamp",
        "headers",
    )


def _about(rule: WithdrawSettings) -> Column:
    """Return whose schedule a record withdraws by this rule; null if it withdraws none."""
    text = F.col("value").cast("string")
    key = F.col("key")
    if rule.key is not None:
        key = F.get_json_object(text, rule.key).cast("binary")
    counts = (F.col("topic") == rule.topic) & (F.octet_length(key) > 0)
    for path, value in rule.where.items():
        counts &= F.get_json_object(text, path) == value
    tombstone = F.struct(
        F.lit(rule.source).alias("topic"),
        key.alias("key"),
        F.lit(None).cast("binary").alias("value"),
    )
    return F.when(counts, tombstone.cast(_TYPE))
