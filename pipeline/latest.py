"""Keeps the newest command of each identity within one micro-batch."""

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from state.row import (
    ENTRY,
    IDENTITY,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TIMESTAMP,
    SUPERSEDED,
    Entry,
)

_RANK = "_rank"
_PUTS = "_puts"


def latest(commands: DataFrame) -> DataFrame:
    """Keep one put or cancel per identity, and every line of another kind.

    The rule is that of state.version.is_newer: on one partition the offset decides, across
    partitions the timestamp, then the partition. SUPERSEDED counts the puts that were passed over.
    This uses windows that Spark has for finished DataFrames only: call it within a micro-batch.
    """
    # Spread by identity first: both windows then find their rows in place, with one exchange.
    spread = commands.repartition(F.col(IDENTITY)).withColumn(_PUTS, _is(Entry.PUT).cast("int"))
    of_partitions = _keep_first(
        spread,
        Window.partitionBy(IDENTITY, SOURCE_PARTITION),
        [F.col(SOURCE_OFFSET).desc()],
    )
    kept = _keep_first(
        of_partitions,
        Window.partitionBy(IDENTITY),
        [F.col(SOURCE_TIMESTAMP).desc(), F.col(SOURCE_PARTITION).desc()],
    )
    passed_over = F.col(_PUTS) - _is(Entry.PUT).cast("int")
    return kept.withColumn(SUPERSEDED, F.when(_competes(), passed_over).otherwise(0)).drop(_PUTS)


def _keep_first(lines: DataFrame, group: WindowSpec, order: list[Column]) -> DataFrame:
    everything = group.orderBy(*order).rowsBetween(
        Window.unboundedPreceding, Window.unboundedFollowing
    )
    return (
        lines.withColumn(_RANK, F.row_number().over(group.orderBy(*order)))
        .withColumn(_PUTS, F.sum(_PUTS).over(everything).cast("int"))
        .where((F.col(_RANK) == 1) | ~_competes())
        .drop(_RANK)
    )


def _competes() -> Column:
    return F.col(ENTRY).isin(Entry.PUT.value, Entry.CANCEL.value)


def _is(entry: Entry) -> Column:
    return F.col(ENTRY) == entry.value
