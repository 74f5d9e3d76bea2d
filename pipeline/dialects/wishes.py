"""Reads what an event wishes: in its attributes, or in the second form in ``data.metaData``."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.dialects.attributes import DATA, WISHES, attribute
from pipeline.dialects.durations import duration_micros
from pipeline.dialects.instants import epoch_seconds_micros, is_epoch_seconds, rfc3339_micros
from pipeline.dialects.json_text import STRICT, raw_member
from state.row import DUE, SOURCE_TIMESTAMP

# Private columns.
META_TEXT = "_meta_text"
META = "_meta"
WISH = "_wish"
MESSAGE = "_message"
AT_MICROS = "_at_micros"
DELAY_MICROS = "_delay_micros"

# In metaData the names are those of the attributes in camel case, but for startAt.
_CAMEL = (
    "outputTopic",
    "startAt",
    "delayBy",
    "outputKey",
    "outputPartition",
    "retryMax",
    "retryFor",
    "expiryTime",
    "expireAfter",
    "repeatEvery",
    "repeatCron",
    "repeatTz",
    "repeatUntil",
    "repeatFor",
    "repeatCount",
    "onMiss",
    "onSameId",
    "compareField",
    "minDeviation",
    "settleFor",
    "settleMax",
)
# How the second form calls each of them.
IN_META = {name: f"metaData.{said}" for name, said in zip(WISHES, _CAMEL, strict=True)}
_SCHEMA = f"struct<{', '.join(f'{name}: string' for name in _CAMEL)}>"


def wish(name: str) -> Column:
    """Return one of the attributes WISHES as text, from whichever form the event has."""
    return F.col(WISH)[name]


def with_wishes(events: DataFrame) -> DataFrame:
    """Add WISH, and the MESSAGE of an event in the second form as it was written."""
    of_attributes = F.struct(*[attribute(name).alias(name) for name in WISHES])
    return (
        events.withColumn(META_TEXT, _meta_text())
        .withColumn(META, F.from_json(F.col(META_TEXT), _SCHEMA, STRICT))
        .withColumns(
            {
                WISH: F.when(in_second_form(), _of_meta()).otherwise(of_attributes),
                MESSAGE: F.when(in_second_form(), raw_member(F.col(DATA), "message")),
            }
        )
    )


def with_due(events: DataFrame) -> DataFrame:
    """Add DUE: the instant given, or the delay after the record's timestamp, or that timestamp."""
    since, at = F.col(SOURCE_TIMESTAMP), wish("deliverat")
    epoch = F.when(in_second_form() & is_epoch_seconds(at), epoch_seconds_micros(at))
    return events.withColumns(
        {
            AT_MICROS: F.coalesce(epoch, rfc3339_micros(at)),
            DELAY_MICROS: duration_micros(wish("delayby")),
        }
    ).withColumn(DUE, F.coalesce(F.col(AT_MICROS), since + F.col(DELAY_MICROS), since))


def in_second_form() -> Column:
    """Tell whether the event says its wishes in ``data.metaData``."""
    return F.coalesce(F.startswith(F.col(META_TEXT), F.lit("{")), F.lit(False))


def names() -> Column:
    """Return how the event's form calls each of WISHES, for a sentence."""
    plain = F.struct(*[F.lit(name).alias(name) for name in WISHES])
    in_meta = F.struct(*[F.lit(said).alias(name) for name, said in IN_META.items()])
    return F.when(in_second_form(), in_meta).otherwise(plain)


def _meta_text() -> Column:
    # Data that merely has a field of that name stays data: such an event has an outputtopic.
    possible = attribute("outputtopic").isNull() & F.startswith(F.col(DATA), F.lit("{"))
    return F.when(possible, raw_member(F.col(DATA), "metaData"))


def _of_meta() -> Column:
    values = {camel: F.col(META)[camel] for camel in _CAMEL} | {"startAt": _start_at()}
    named = zip(_CAMEL, WISHES, strict=True)
    return F.struct(*[values[camel].alias(name) for camel, name in named])


def _start_at() -> Column:
    # A number is taken as it was written: Spark's parser would turn it into a double.
    read, written = F.col(META)["startAt"], raw_member(F.col(META_TEXT), "startAt")
    is_text = F.startswith(written, F.lit('"'))
    return F.when(read.isNull() | is_text, read).otherwise(written)
