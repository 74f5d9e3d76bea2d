"""Reads what an event wishes: in its attributes, or in the second form in ``data.metaData``."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.dialects.attributes import DATA, UNSUPPORTED, attribute
from pipeline.dialects.durations import duration_micros
from pipeline.dialects.instants import epoch_seconds_micros, is_epoch_seconds, rfc3339_micros
from pipeline.dialects.json_text import STRICT, raw_member, scalar_text
from state.row import DUE, SOURCE_TIMESTAMP

# Private columns.
META_TEXT = "_meta_text"
META = "_meta"
START_AT = "_start_at"
TO = "_to"
AT = "_at"
DELAY = "_delay"
OUT_KEY = "_out_key"
OUT_PARTITION = "_out_partition"
MESSAGE = "_message"
AT_MICROS = "_at_micros"
DELAY_MICROS = "_delay_micros"

# What is called so in metaData; the names in attributes are the same in lower case.
UNSUPPORTED_IN_META = (
    "expiryTime",
    "repeatEvery",
    "repeatCron",
    "repeatTz",
    "repeatUntil",
    "repeatFor",
    "repeatCount",
    "onSameId",
    "compareField",
    "minDeviation",
    "settleFor",
)
_IN_META = ("outputTopic", "delayBy", "outputKey", "outputPartition", *UNSUPPORTED_IN_META)
_SCHEMA = f"struct<{', '.join(f'{name}: string' for name in _IN_META)}>"


def with_wishes(events: DataFrame) -> DataFrame:
    """Add where to, when and with which key, as text and from whichever form the event has."""
    of_meta = {
        META: F.from_json(F.col(META_TEXT), _SCHEMA, STRICT),
        START_AT: scalar_text(raw_member(F.col(META_TEXT), "startAt")),
        MESSAGE: F.when(in_second_form(), raw_member(F.col(DATA), "message")),
    }
    return (
        events.withColumn(META_TEXT, _meta_text())
        .withColumns(of_meta)
        .withColumns(
            {
                TO: _either("outputTopic", "outputtopic"),
                AT: F.when(in_second_form(), F.col(START_AT)).otherwise(attribute("deliverat")),
                DELAY: _either("delayBy", "delayby"),
                OUT_KEY: _either("outputKey", "outputkey"),
                OUT_PARTITION: _either("outputPartition", "outputpartition"),
            }
        )
    )


def with_due(events: DataFrame) -> DataFrame:
    """Add DUE: the instant given, or the delay after the record's timestamp, or that timestamp."""
    since = F.col(SOURCE_TIMESTAMP)
    at = F.when(
        in_second_form() & is_epoch_seconds(F.col(AT)), epoch_seconds_micros(F.col(AT))
    ).otherwise(rfc3339_micros(F.col(AT)))
    return events.withColumns(
        {AT_MICROS: at, DELAY_MICROS: duration_micros(F.col(DELAY))}
    ).withColumn(DUE, F.coalesce(F.col(AT_MICROS), since + F.col(DELAY_MICROS), since))


def in_second_form() -> Column:
    """Tell whether the event says its wishes in ``data.metaData``."""
    return F.col(META_TEXT).isNotNull()


def named(attribute_name: str, meta_name: str) -> Column:
    """Return the name under which the event's form has a field, for a sentence."""
    return F.when(in_second_form(), f"metaData.{meta_name}").otherwise(attribute_name)


def unsupported() -> Column:
    """Return the name of the first attribute that this version cannot follow, null if none."""
    found = [F.when(attribute(name).isNotNull(), name) for name in UNSUPPORTED]
    in_meta = [
        F.when(F.col(META)[name].isNotNull(), f"metaData.{name}") for name in UNSUPPORTED_IN_META
    ]
    return F.coalesce(*found, F.when(in_second_form(), F.coalesce(*in_meta)))


def _meta_text() -> Column:
    # Data that merely has a field of that name stays data: such an event has an outputtopic.
    possible = attribute("outputtopic").isNull() & F.startswith(F.col(DATA), F.lit("{"))
    text = F.when(possible, raw_member(F.col(DATA), "metaData"))
    return F.when(F.startswith(text, F.lit("{")), text)


def _either(meta_name: str, attribute_name: str) -> Column:
    return F.when(in_second_form(), F.col(META)[meta_name]).otherwise(attribute(attribute_name))
