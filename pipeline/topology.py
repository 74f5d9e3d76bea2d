"""The way of the data, as one streaming DataFrame: what each micro-batch says, line by line.

source -> decode -> admit -> dead letters -> latest per key, and beside it notes and the clock. What
follows, state and outbox, is the sink: ``pipeline.tick`` takes every batch of these lines.
"""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline import source
from pipeline.admit import AdmitRules, admit
from pipeline.config.settings import Settings
from pipeline.deadletter import as_dead_letter
from pipeline.dialects.cloudevents import decode
from pipeline.latest import latest
from pipeline.lines import clock_lines, note_lines
from state.row import BATCH_TIME


def topology(spark: SparkSession, settings: Settings) -> DataFrame:
    """Return the stream of lines (state.row.COMMANDS and the time of the batch)."""
    return (
        source.records(spark, settings)
        .transform(decode)
        .transform(admit, rules(settings))
        .transform(as_dead_letter, settings.dead_letter.topic)
        .transform(latest)
        .unionByName(source.notes(spark, settings).transform(note_lines))
        .unionByName(source.clock(spark).transform(clock_lines))
        .withColumn(BATCH_TIME, F.unix_micros(F.current_timestamp()))  # replays unchanged
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
