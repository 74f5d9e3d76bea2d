"""Reads CloudEvents, structured or binary, as commands to schedule or to cancel a message."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from pipeline.dialects.attributes import (
    BASE64,
    BINARY,
    CARRIED,
    DATA,
    MODE,
    TOMBSTONE,
    attribute,
    with_event,
)
from pipeline.dialects.event_rules import rules_of_events
from pipeline.dialects.json_text import scalar_text
from pipeline.dialects.put_rules import rules_of_puts
from pipeline.dialects.wishes import (
    MESSAGE,
    in_second_form,
    wish,
    with_due,
    with_wishes,
)
from pipeline.identity import schedule_identity
from pipeline.raw import RAW_HEADERS, RAW_VALUE
from pipeline.refuse import Rule, refuse
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
    SUPERSEDED,
    Entry,
    Kind,
)

CANCEL_TYPE = "io.duestream.cancel.v1"

_HEADERS_TYPE = "array<struct<key:string,value:binary>>"


def decode(records: DataFrame) -> DataFrame:
    """Turn Kafka records into commands; what cannot be read has a reason and a detail.

    Besides the columns of a command the result has those of pipeline.raw, for the dead letter.
    """
    return (
        records.select(*_as_it_came())
        .transform(with_event)
        .transform(with_wishes)
        .transform(with_due)
        .transform(refuse, _rules())
        .select(*_command())
    )


def _as_it_came() -> list[Column]:
    return [
        F.col("topic").alias(SOURCE_TOPIC),
        F.col("partition").alias(SOURCE_PARTITION),
        F.col("offset").alias(SOURCE_OFFSET),
        F.unix_micros("timestamp").alias(SOURCE_TIMESTAMP),
        F.col("key").alias(KEY),
        F.col("value").alias(RAW_VALUE),
        F.col("headers").alias(RAW_HEADERS),
    ]


def _rules() -> list[Rule]:
    an_event = F.col(MODE) != TOMBSTONE
    a_put = an_event & ~_cancels()
    return [
        *[rule._replace(broken=an_event & rule.broken) for rule in rules_of_events()],
        *[rule._replace(broken=a_put & rule.broken) for rule in rules_of_puts()],
    ]


def _command() -> list[Column]:
    values = {**_name(), **_if_put(), REASON: F.col(REASON), DETAIL: F.col(DETAIL)}
    types = from_arrow_schema(COMMANDS)
    columns = [values[field.name].cast(field.dataType).alias(field.name) for field in types.fields]
    return [*columns, F.col(RAW_VALUE), F.col(RAW_HEADERS)]


def _name() -> dict[str, Column]:
    source = (SOURCE_TOPIC, SOURCE_PARTITION, SOURCE_OFFSET, SOURCE_TIMESTAMP, KEY)
    identity = schedule_identity(F.col(SOURCE_TOPIC), F.col(KEY))
    return {
        **{name: F.col(name) for name in source},
        ENTRY: F.when(_cancels(), Entry.CANCEL.value).otherwise(Entry.PUT.value),
        IDENTITY: identity,
        HASH: F.crc32(identity),
        KIND: F.lit(Kind.MESSAGE.value),
        SUPERSEDED: F.lit(0),
    }


def _if_put() -> dict[str, Column]:
    a_put = F.col(REASON).isNull() & ~_cancels()
    content = {
        OUTPUT_TOPIC: wish("outputtopic"),
        OUTPUT_PARTITION: wish("outputpartition").try_cast("int"),
        OUTPUT_KEY: F.coalesce(wish("outputkey").cast("binary"), F.col(KEY)),
        PAYLOAD: _payload(),
        HEADERS: _headers(),
        DUE: F.col(DUE),
    }
    return {name: F.when(a_put, value) for name, value in content.items()}


def _cancels() -> Column:
    says_so = F.coalesce(attribute("type") == CANCEL_TYPE, F.lit(False))
    return (F.col(MODE) == TOMBSTONE) | says_so


def _payload() -> Column:
    return (
        F.when(F.col(MODE) == BINARY, F.col(RAW_VALUE))
        .when(in_second_form(), scalar_text(F.col(MESSAGE)).cast("binary"))
        .when(attribute(BASE64).isNotNull(), F.unbase64(attribute(BASE64)))
        .otherwise(scalar_text(F.col(DATA)).cast("binary"))
    )


def _headers() -> Column:
    carried = {
        "content-type": attribute("datacontenttype"),
        **{name: attribute(name) for name in CARRIED},
    }
    given = F.concat(*[_header(name, value) for name, value in carried.items()])
    return F.when(~in_second_form() & F.coalesce(*carried.values()).isNotNull(), given)


def _header(name: str, value: Column) -> Column:
    header = F.struct(F.lit(name).alias("key"), value.cast("binary").alias("value"))
    return F.when(value.isNotNull(), F.array(header)).otherwise(F.array().cast(_HEADERS_TYPE))
