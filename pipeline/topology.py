"""The way of the data: source, decode, admit, dead letters, latest per key, state, outbox.

Beside the records come notes and the clock. Latest per key, state and outbox work on one
micro-batch at a time: they are the sink of the stream, and ``pipeline.tick`` is its last part.
"""

from collections.abc import Callable

from pyspark.sql import SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from pipeline import source
from pipeline.admit import AdmitRules, admit
from pipeline.config.settings import Settings
from pipeline.deadletter import as_dead_letter
from pipeline.dialects.attributes import MAP_POLICY
from pipeline.dialects.cloudevents import decode
from pipeline.latest import latest
from pipeline.lines import clock_lines, note_lines, with_batch_time
from pipeline.said import Read


def topology(
    spark: SparkSession, settings: Settings, tick: Callable[[Read, int], None]
) -> DataStreamWriter:
    """Return the stream, ready to start; ``tick`` takes each batch to the state and the outbox."""
    spark.conf.set(*MAP_POLICY)
    return (
        source.records(spark, settings)
        .transform(decode)
        .transform(admit, rules(settings))
        .transform(as_dead_letter, settings.dead_letter.topic)
        .unionByName(source.notes(spark, settings).transform(note_lines))
        .unionByName(source.clock(spark).transform(clock_lines))
        .transform(with_batch_time)
        .writeStream.foreachBatch(
            lambda batch, number: tick(lambda: latest(batch.toArrow()), number)
        )
    )


def rules(settings: Settings) -> AdmitRules:
    """Return what a record must satisfy, as the settings say it."""
    return AdmitRules(
        allow=tuple(settings.outputs.allow),
        reserved=(
            *(each.topic for each in settings.sources),
            settings.internal_topic,
            settings.dead_letter.topic,
        ),
        max_payload_bytes=settings.limits.max_payload_bytes,
        max_key_bytes=settings.limits.max_key_bytes,
    )
