"""What all dialects share: the record as it came, and the line that becomes of it."""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from pipeline.identity import schedule_identity
from pipeline.raw import FACTS, LINE, RAW_HEADERS, RAW_VALUE, VERDICT
from pipeline.refuse import Rule, refuse
from pipeline.withdraw import SCHEDULED_ON
from state.row import (
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
    POLICY,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TIMESTAMP,
    SOURCE_TOPIC,
    Entry,
    Kind,
)

Columns = Mapping[str, Column]

_CONTENT = "_content"
_OF_CONTENT = (OUTPUT_TOPIC, OUTPUT_PARTITION, OUTPUT_KEY, PAYLOAD, HEADERS, DUE, POLICY)
_TYPES = {field.name: field.dataType for field in from_arrow_schema(LINE).fields}


def as_it_came(records: DataFrame) -> DataFrame:
    """Name the columns of a Kafka record as a line has them, and keep SCHEDULED_ON."""
    return records.select(
        F.col("topic").alias(SOURCE_TOPIC),
        F.col(SCHEDULED_ON),
        F.col("partition").alias(SOURCE_PARTITION),
        F.col("offset").alias(SOURCE_OFFSET),
        F.unix_micros("timestamp").alias(SOURCE_TIMESTAMP),
        F.col("key").alias(KEY),
        F.col("value").alias(RAW_VALUE),
        F.col("headers").alias(RAW_HEADERS),
    )


def with_content(read: DataFrame, puts: Column, content: Columns) -> DataFrame:
    """Keep what is to be published, of records that put a message and are not refused."""
    given = {name: content.get(name, F.lit(None)).cast(_TYPES[name]) for name in _OF_CONTENT}
    whole = F.struct(*[value.alias(name) for name, value in given.items()])
    return read.withColumn(_CONTENT, F.when(F.col(VERDICT).isNull() & puts, whole))


def as_lines(read: DataFrame, facts: Columns, values: Columns) -> DataFrame:
    """Return the columns of pipeline.raw.LINE; ``values`` are those that the dialect decides.

    ``facts`` are what the sentence about a refused record may name. The identity is that of
    the key, unless given.
    """
    as_json = F.to_json(F.struct(*[value.alias(name) for name, value in facts.items()]))
    identity = values.get(IDENTITY, schedule_identity(F.col(SCHEDULED_ON), F.col(KEY)))
    columns = {
        **{name: F.col(_CONTENT)[name] for name in _OF_CONTENT},
        KIND: F.lit(Kind.MESSAGE.value),
        FACTS: F.when(F.col(VERDICT).isNotNull(), as_json),
        **values,
        IDENTITY: identity,
        HASH: F.crc32(identity),
    }
    return read.select(*[columns.get(name, F.col(name)).alias(name) for name in LINE.names])


def kept_content(name: str) -> Column:
    """Return a column of the content, as with_content has kept it."""
    return F.col(_CONTENT)[name]


def puts() -> Column:
    """Tell whether a record of a foreign dialect puts a message: one without a value cancels."""
    return F.col(RAW_VALUE).isNotNull()


def foreign_lines(
    read: DataFrame,
    rules: list[Rule],
    content: Columns,
    facts: Columns,
    values: Columns | None = None,
) -> DataFrame:
    """Turn what was read of foreign records into lines; ``rules`` are those of puts."""
    entry = F.when(puts(), Entry.PUT.value).otherwise(Entry.CANCEL.value)
    held = [rule._replace(broken=puts() & rule.broken) for rule in rules]
    return (
        read.transform(refuse, held)
        .transform(with_content, puts(), content)
        .transform(as_lines, facts, {ENTRY: entry, **(values or {})})
    )
