"""What both formats of sky-uk's kafka-message-scheduler share.

A null value cancels. With the header ``schedule:expired`` it is the scheduler's own mark that
the message is out: it says nothing, and is dropped.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.dialects.epochs import Unit, epoch_micros, epoch_rules, missing
from pipeline.dialects.marks import EXPIRED
from pipeline.refuse import Rule
from state.row import DUE, HEADERS, OUTPUT_KEY, OUTPUT_TOPIC, PAYLOAD

TIME, TOPIC = "_time", "_topic"

_TRUE = "true"


def without_marks(records: DataFrame) -> DataFrame:
    """Drop the records that say of a schedule that it was sent; see pipeline.dialects.marks."""
    marked = F.exists("headers", _says_expired)
    return records.where(F.col("value").isNotNull() | ~F.coalesce(marked, F.lit(False)))


def with_due(read: DataFrame) -> DataFrame:
    """Add DUE, by the text TIME."""
    return read.withColumn(DUE, epoch_micros(F.col(TIME), Unit.MILLISECONDS))


def rules_of_kms() -> list[Rule]:
    """Return what a schedule must keep in either format."""
    return [
        *epoch_rules("time", F.col(TIME), Unit.MILLISECONDS),
        missing("topic", F.col(TOPIC), "the name of the topic to publish to"),
    ]


def content_of_kms(key: Column, value: Column, headers: Column) -> dict[str, Column]:
    """Return what is published: exactly what the schedule holds."""
    return {
        OUTPUT_TOPIC: F.col(TOPIC),
        OUTPUT_KEY: key,
        PAYLOAD: value,
        HEADERS: headers,
        DUE: F.col(DUE),
    }


def _says_expired(header: Column) -> Column:
    said = F.lower(header["value"].cast("string")) == _TRUE
    return (header["key"] == EXPIRED) & F.coalesce(said, F.lit(False))
