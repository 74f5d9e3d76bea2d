"""Reads the events of distributed-delayed-messages as its branch for MongoDB has them.

They do not name an output topic: the settings do, for each source.
"""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.dialects.epochs import missing
from pipeline.dialects.instants import epoch_seconds_micros, is_epoch_seconds, rfc3339_micros
from pipeline.dialects.json_fields import (
    field,
    rules_of_fields,
    unquoted,
    value_text,
    with_fields,
)
from pipeline.dialects.json_text import is_nested, raw_member, scalar_text
from pipeline.dialects.record import as_it_came, foreign_lines
from pipeline.farthest import too_far
from pipeline.reasons import Reason
from pipeline.refuse import Rule
from state.row import DUE, OUTPUT_KEY, OUTPUT_TOPIC, PAYLOAD, SOURCE_TIMESTAMP, SOURCE_TOPIC

_TYPES = {"type": "string", "publishAt": "string", "partitionKey": "string"}
_STRINGS = ("type", "partitionKey")
_MESSAGE, _AT = "_message", "_at"
_DELAYED = "Delayed"
_INSTANT = "an instant such as 2030-01-31T09:00:00Z, or seconds since 1970"


def decode(records: DataFrame, output_topics: Mapping[str, str]) -> DataFrame:
    """Turn Kafka records into commands, as pipeline.dialects.cloudevents does.

    ``output_topics`` says of each source topic where its messages go.
    """
    return (
        records.transform(as_it_came)
        .transform(with_fields, _TYPES)
        .withColumns({_MESSAGE: raw_member(value_text(), "message"), _AT: _publish_at()})
        .withColumn(DUE, _due())
        .transform(foreign_lines, _rules(), _content(output_topics), _facts())
    )


def _publish_at() -> Column:
    # A number is taken as it was written: Spark's parser would turn it into a double.
    read, written = field("publishAt"), raw_member(value_text(), "publishAt")
    is_text = F.startswith(written, F.lit('"'))
    return F.when(read.isNull() | is_text, read).otherwise(written)


def _due() -> Column:
    at = F.col(_AT)
    seconds = F.when(is_epoch_seconds(at), epoch_seconds_micros(at))
    return F.coalesce(seconds, rfc3339_micros(at))


def _rules() -> list[Rule]:
    below_zero = F.startswith(F.col(_AT), F.lit("-"))
    return [
        *rules_of_fields(_STRINGS),
        missing("type", field("type"), _DELAYED),
        Rule(
            field("type") != _DELAYED,
            Reason.INVALID_FIELD,
            f"type{{type}} is not known; send {_DELAYED}",
        ),
        missing("publishAt", F.col(_AT), _INSTANT),
        Rule(
            F.col(DUE).isNull() | below_zero,
            Reason.INVALID_TIME,
            f"publishAt{{at}} is not a time; send {_INSTANT}",
        ),
        Rule(
            too_far(F.col(DUE), F.col(SOURCE_TIMESTAMP)),
            Reason.TIME_OUT_OF_RANGE,
            "publishAt{at} is more than 100 years ahead; check the unit: a bare number counts "
            "seconds, not milliseconds",
        ),
        Rule(
            is_nested(F.col(_MESSAGE)),
            Reason.INVALID_MESSAGE,
            "message{message} is an object or an array; send it as a string that holds the JSON "
            "text",
        ),
    ]


def _content(output_topics: Mapping[str, str]) -> dict[str, Column]:
    to = F.lit(None).cast("string")
    for topic, output in output_topics.items():
        to = F.when(F.col(SOURCE_TOPIC) == topic, output).otherwise(to)
    return {
        OUTPUT_TOPIC: to,
        OUTPUT_KEY: field("partitionKey").cast("binary"),
        PAYLOAD: scalar_text(F.col(_MESSAGE)).cast("binary"),
        DUE: F.col(DUE),
    }


def _facts() -> dict[str, Column]:
    return {
        "type": field("type"),
        "at": F.col(_AT),
        "message": F.col(_MESSAGE),
        "unquoted": unquoted(_STRINGS),
    }
