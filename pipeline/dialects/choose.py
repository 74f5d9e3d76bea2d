"""Knows all dialects, and gives each record to the one of its topic."""

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.config.blocks import SourceSettings
from pipeline.dialects import (
    cloudevents,
    cloudevents_mongo,
    etf1,
    karafka,
    kms_avro,
    kms_json,
)
from pipeline.dialects.marks import is_passed_over
from pipeline.identity import identity_of
from pipeline.withdraw import SCHEDULED_ON

Sources = Sequence[SourceSettings]


def decode(records: DataFrame, sources: Sources) -> DataFrame:
    """Turn the records of all sources into commands; see pipeline.dialects.cloudevents."""
    by_dialect: dict[str, list[SourceSettings]] = {}
    for source in sources:
        by_dialect.setdefault(source.dialect, []).append(source)
    if len(by_dialect) == 1:
        return _decoded(records, sources)
    parts = [_decoded(_of(records, group), group) for group in by_dialect.values()]
    return reduce(DataFrame.union, parts)


def names_in(source: SourceSettings) -> Callable[[Any], bytes | None]:
    """Return what finds the identity in a message of ``source``, as decode makes it.

    The message is one of confluent_kafka, with a key; None if it is about no schedule.
    """
    scope = scope_of(source)
    by_partition = source.dialect == "karafka"

    def name(message: Any) -> bytes | None:
        value = message.value()
        if value is None and is_passed_over(source.dialect, value, message.headers()):
            return None
        return identity_of(scope, message.key(), message.partition() if by_partition else None)

    return name


def scope_of(source: SourceSettings) -> str:
    """Return within what the keys of a source name schedules: its namespace, or its topic."""
    return source.namespace or source.topic


def _decoded(records: DataFrame, sources: Sources) -> DataFrame:
    return _decoder(sources)(records.transform(_within_namespaces, sources))


def _decoder(sources: Sources) -> Callable[[DataFrame], DataFrame]:
    """Return the decoder of sources that have one dialect."""
    to = {source.topic: source.output_topic or "" for source in sources}
    decoders: dict[str, Callable[[DataFrame], DataFrame]] = {
        "cloudevents": cloudevents.decode,
        "cloudevents-mongo": partial(cloudevents_mongo.decode, output_topics=to),
        "kms-avro": kms_avro.decode,
        "kms-json": kms_json.decode,
        "etf1": etf1.decode,
        "karafka": karafka.decode,
    }
    return decoders[sources[0].dialect]


def _of(records: DataFrame, sources: Sources) -> DataFrame:
    return records.where(F.col(SCHEDULED_ON).isin(*[source.topic for source in sources]))


def _within_namespaces(records: DataFrame, sources: Sources) -> DataFrame:
    """Let topics with one namespace share their keys; what withdraws from them does so too."""
    scope: Column = F.col(SCHEDULED_ON)
    shared = [source for source in sources if source.namespace is not None]
    for source in shared:
        scope = F.when(F.col(SCHEDULED_ON) == source.topic, source.namespace).otherwise(scope)
    return records.withColumn(SCHEDULED_ON, scope) if shared else records
