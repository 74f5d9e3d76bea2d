"""Lines of a batch that are no commands: notes of the outbox, and the clock."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from state.row import BATCH_TIME, COMMANDS, ENTRY, PAYLOAD, Entry

_MORE_THAN_THERE_ARE = 1_000_000
_TYPES = {field.name: field.dataType for field in from_arrow_schema(COMMANDS).fields}


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
    return [given.get(name, F.lit(None)).cast(kind).alias(name) for name, kind in _TYPES.items()]
