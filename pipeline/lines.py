"""Brings everything a batch says to one shape: commands, notes of the outbox, and the clock."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from pipeline.raw import LINE, RAW_HEADERS, RAW_VALUE, VERDICT
from state.row import BATCH_TIME, ENTRY, PAYLOAD, POLICY, Entry

_MORE_THAN_THERE_ARE = 1_000_000
_TYPES = {field.name: field.dataType for field in from_arrow_schema(LINE).fields}


def command_lines(commands: DataFrame) -> DataFrame:
    """Carry each command; the record as it came only where it is refused, or may yet be."""
    refusable = F.col(VERDICT).isNotNull() | F.col(POLICY).isNotNull()
    raw = {name: F.when(refusable, F.col(name)).alias(name) for name in (RAW_VALUE, RAW_HEADERS)}
    return commands.select(*[raw.get(name, F.col(name)) for name in LINE.names])


def note_lines(records: DataFrame) -> DataFrame:
    """Carry each note as the payload of a line; there are few, so they are read when handled."""
    return records.select(*_columns({ENTRY: F.lit(Entry.NOTE.value), PAYLOAD: F.col("value")}))


def clock_lines(ticks: DataFrame) -> DataFrame:
    """Make of each tick of the clock a line that says nothing."""
    return ticks.select(*_columns({ENTRY: F.lit(Entry.CLOCK.value)}))


def with_batch_time(lines: DataFrame) -> DataFrame:
    """Add the time of the batch, which replays unchanged.

    It becomes a constant in the code that Spark generates, and would have all of the decoding
    compiled anew in every batch. A coalesce, to more partitions than there are, keeps them apart.
    """
    apart = lines.coalesce(_MORE_THAN_THERE_ARE)
    return apart.withColumn(BATCH_TIME, F.unix_micros(F.current_timestamp()))


def _columns(given: dict[str, Column]) -> list[Column]:
    nothing = {name: F.lit(None).cast(kind) for name, kind in _TYPES.items()}
    return [given.get(name, nothing[name]).alias(name) for name in LINE.names]
