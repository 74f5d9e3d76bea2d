"""The way of the data: source, decode, admit, dead letters, latest per key, state, outbox.

Beside the records come notes and the clock. From the dead letters on, each step works on one
micro-batch at a time: that is the sink of the stream, and ``pipeline.tick`` is its last part.
"""

from collections.abc import Callable

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from pipeline import source
from pipeline.admit import AdmitRules, admit
from pipeline.asked import Asking, with_policies
from pipeline.config.settings import Settings
from pipeline.deadletter import with_dead_letters
from pipeline.dialects.choose import decode
from pipeline.dialects.headers import tell_policy
from pipeline.dialects.wishes import IN_META
from pipeline.fitting import fitting
from pipeline.latest import latest
from pipeline.lines import clock_lines, command_lines, note_lines, with_batch_time
from pipeline.said import Read


def topology(
    spark: SparkSession, settings: Settings, tick: Callable[[Read, int], None]
) -> DataStreamWriter:
    """Return the stream, ready to start; ``tick`` takes each batch to the state and the outbox."""
    read = reader(settings)
    return lines(spark, settings).writeStream.foreachBatch(
        lambda batch, number: tick(lambda: read(batch), number)
    )


def lines(spark: SparkSession, settings: Settings) -> DataFrame:
    """Stream what a batch says: commands, notes and the clock, under the batch's time."""
    tell_policy(spark)
    return (
        source.records(spark, settings)
        .transform(decode, settings.sources)
        .transform(admit, rules(settings))
        .transform(command_lines)
        .union(source.notes(spark, settings).transform(note_lines))
        .union(source.clock(spark).transform(clock_lines))
        .transform(with_batch_time)
    )


def reader(settings: Settings) -> Callable[[DataFrame], pa.Table]:
    """Return what brings the lines of one batch here, with dead letters, the latest of each key."""
    asking = Asking(rules(settings), settings.schedules.endless_repeats, IN_META)

    def read(batch: DataFrame) -> pa.Table:
        said = with_policies(fitting(batch.toArrow(), settings.state.largest_row), asking)
        return latest(with_dead_letters(said, settings.dead_letter.topic))

    return read


def rules(settings: Settings) -> AdmitRules:
    """Return what a record must satisfy, as the settings say it."""
    return AdmitRules(
        allow=tuple(settings.outputs.allow),
        reserved=tuple(sorted(settings.reserved_topics)),
        max_payload_bytes=settings.limits.max_payload_bytes,
        max_key_bytes=settings.limits.max_key_bytes,
    )
