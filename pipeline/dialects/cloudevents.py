"""Reads CloudEvents, structured or binary, as commands to schedule or to cancel a message."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.dialects.attributes import (
    BASE64,
    BINARY,
    CARRIED,
    CONTENT_TYPE,
    DATA,
    EVENT,
    MODE,
    TOMBSTONE,
    attribute,
    with_event,
)
from pipeline.dialects.event_rules import nested_attribute, rules_of_events
from pipeline.dialects.json_text import scalar_text
from pipeline.dialects.put_rules import rules_of_puts
from pipeline.dialects.wishes import (
    MESSAGE,
    WISH,
    in_second_form,
    names,
    wish,
    with_due,
    with_wishes,
)
from pipeline.identity import schedule_identity
from pipeline.raw import FACTS, LINE, RAW_HEADERS, RAW_VALUE, VERDICT
from pipeline.refuse import Rule, refuse
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

CANCEL_TYPE = "io.duestream.cancel.v1"

_CONTENT = "_content"
_POLICY = ("retrymax", "retryfor")
_OF_CONTENT = (OUTPUT_TOPIC, OUTPUT_PARTITION, OUTPUT_KEY, PAYLOAD, HEADERS, DUE, POLICY)
_HEADER = "struct<key:string,value:binary>"


def decode(records: DataFrame) -> DataFrame:
    """Turn Kafka records into commands; what cannot be read has a verdict, and facts about it.

    Besides the columns of a command the result has those of pipeline.raw, for the dead letter.
    """
    return (
        records.select(*_as_it_came())
        .transform(with_event)
        .transform(with_wishes)
        .transform(with_due)
        .transform(refuse, _rules())
        .withColumn(_CONTENT, F.when(F.col(VERDICT).isNull() & ~_cancels(), _content()))
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
    identity = schedule_identity(F.col(SOURCE_TOPIC), F.col(KEY))
    values = {
        ENTRY: F.when(_cancels(), Entry.CANCEL.value).otherwise(Entry.PUT.value),
        IDENTITY: identity,
        HASH: F.crc32(identity),
        KIND: F.lit(Kind.MESSAGE.value),
        FACTS: F.when(F.col(VERDICT).isNotNull(), _facts()),
        **{name: F.col(_CONTENT)[name] for name in _OF_CONTENT},
    }
    return [values.get(name, F.col(name)).alias(name) for name in LINE.names]


def _content() -> Column:
    content = {
        OUTPUT_TOPIC: wish("outputtopic"),
        OUTPUT_PARTITION: wish("outputpartition").try_cast("int"),
        OUTPUT_KEY: F.coalesce(wish("outputkey").cast("binary"), F.col(KEY)),
        PAYLOAD: _payload(),
        HEADERS: _headers(),
        DUE: F.col(DUE),
        POLICY: _policy(),
    }
    return F.struct(*[content[name].alias(name) for name in _OF_CONTENT])


def _facts() -> Column:
    facts = {
        "event": F.col(EVENT),
        "wish": F.col(WISH),
        "names": names(),
        "content_type": F.col(CONTENT_TYPE),
        "message": F.col(MESSAGE),
        "nested": nested_attribute(),
    }
    return F.to_json(F.struct(*[value.alias(name) for name, value in facts.items()]))


def _cancels() -> Column:
    says_so = F.coalesce(attribute("type") == CANCEL_TYPE, F.lit(False))
    return (F.col(MODE) == TOMBSTONE) | says_so


def _policy() -> Column:
    asked = [wish(name) for name in _POLICY]
    as_json = F.to_json(F.struct(*[wish(name).alias(name) for name in _POLICY]))
    return F.when(F.coalesce(*asked).isNotNull(), as_json)


def _payload() -> Column:
    written = F.coalesce(F.col(MESSAGE), F.col(DATA))
    return (
        F.when(F.col(MODE) == BINARY, F.col(RAW_VALUE))
        .when(attribute(BASE64).isNotNull(), F.unbase64(attribute(BASE64)))
        .otherwise(scalar_text(written).cast("binary"))
    )


def _headers() -> Column:
    carried = {
        "content-type": attribute("datacontenttype"),
        **{name: attribute(name) for name in CARRIED},
    }
    given = F.array(*[_header(name, value) for name, value in carried.items()])
    absent = F.array(F.lit(None).cast(_HEADER))
    some = ~in_second_form() & F.coalesce(*carried.values()).isNotNull()
    return F.when(some, F.array_except(given, absent))


def _header(name: str, value: Column) -> Column:
    header = F.struct(F.lit(name).alias("key"), value.cast("binary").alias("value"))
    return F.when(value.isNotNull(), header)
