"""Finds what became of each schedule on a topic: its newest record decides.

The rule is that of state.version.is_newer: on one partition the offset, across partitions the
timestamp, then the partition. Spark aggregates it, so a topic may be as large as it likes.

A mark counts only for what was due when it was written. A schedule for later that stands before it
was put while the one before went out: the mark is not about it, and it is not sent yet.
"""

from collections.abc import Sequence
from enum import StrEnum

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.migrate.reading import SENT
from pipeline.raw import CONTROL, VERDICT
from state.row import (
    DUE,
    ENTRY,
    IDENTITY,
    OUTPUT_TOPIC,
    POLICY,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TIMESTAMP,
    Entry,
)

FATE = "_fate"
CLOCKS_DIFFER = 60_000_000  # microseconds, between those of schedulers and producers at the most
PUTS = "_puts"  # how many records of a schedule put a message
COUNT, BEFORE, ENDED = "_count", "_before", "_ended"

_WHO, _ON, _NEWEST, _ASKING = "_who", "_on", "_newest", "_asking"
_WORD, _MARK = "_word", "_mark"  # the newest of the producers, and of the scheduler
_LIGHT = (ENTRY, VERDICT, DUE, OUTPUT_TOPIC, SOURCE_OFFSET, SOURCE_TIMESTAMP)
_SAME = '"same":'  # as state.rules.policy writes it


class Fate(StrEnum):
    """What a schedule is at the end of the topic."""

    PENDING = "pending"
    OVERDUE = "overdue"  # pending, and its time has passed
    SENT = "sent"  # as a mark of the other scheduler says
    CANCELLED = "cancelled"
    UNREADABLE = "unreadable"  # not a schedule but one record, refused
    ASKING = "asking"  # it has commands or policies, which only a running job can follow


def fates(lines: DataFrame, now: int, carried: Sequence[str] = ()) -> DataFrame:
    """Return a row for each schedule, and for each refused record, with FATE and PUTS.

    Its other columns are those of its newest line that are ``carried``.
    """
    line = F.struct(*dict.fromkeys((*_LIGHT, *carried)))
    of_partition = lines.groupBy(_who().alias(_WHO), F.col(SOURCE_PARTITION).alias(_ON)).agg(
        F.max_by(line, F.when(_marks(), None).otherwise(F.col(SOURCE_OFFSET))).alias(_WORD),
        F.max_by(line, F.when(_marks(), F.col(SOURCE_OFFSET))).alias(_MARK),
        F.count_if(_puts()).alias(PUTS),
        F.count_if(_asks()).alias(_ASKING),
    )
    newest = F.when(_is_over(), F.col(_MARK)).otherwise(F.col(_WORD))
    stamp = F.struct(F.col(_NEWEST)[SOURCE_TIMESTAMP], F.col(_ON))
    of_schedule = (
        of_partition.withColumn(_NEWEST, newest)
        .groupBy(_WHO)
        .agg(
            F.max_by(_NEWEST, stamp).alias(_NEWEST),
            F.sum(PUTS).alias(PUTS),
            F.sum(_ASKING).alias(_ASKING),
        )
    )
    return of_schedule.select(f"{_NEWEST}.*", PUTS, _ASKING).withColumn(FATE, _fate(now))


def tally(found: DataFrame) -> DataFrame:
    """Count schedules by FATE and OUTPUT_TOPIC.

    BEFORE counts the records that put one and are not its newest, ENDED those schedules of which
    the newest record ends what another has put.
    """
    puts = F.col(ENTRY) == Entry.PUT.value
    ends = ~puts & (F.col(PUTS) > 0)
    return found.groupBy(FATE, OUTPUT_TOPIC).agg(
        F.count("*").alias(COUNT),
        F.sum(F.col(PUTS) - F.when(puts & F.col(VERDICT).isNull(), 1).otherwise(0)).alias(BEFORE),
        F.count_if(ends).alias(ENDED),
    )


def _who() -> Column:
    """Return what names a schedule; a refused record stands for itself."""
    nul = F.lit(bytearray(b"\0"))
    place = [
        F.col(name).cast("string").cast("binary") for name in (SOURCE_PARTITION, SOURCE_OFFSET)
    ]
    itself = F.concat(nul, place[0], nul, place[1])
    return F.when(F.col(VERDICT).isNotNull(), itself).otherwise(F.col(IDENTITY))


def _marks() -> Column:
    return F.col(ENTRY) == SENT


def _is_over() -> Column:
    """Tell whether the mark of a partition is about the newest that was said there."""
    word, mark = F.col(_WORD), F.col(_MARK)
    put_for_later = (word[ENTRY] == Entry.PUT.value) & (
        word[DUE] > mark[SOURCE_TIMESTAMP] + CLOCKS_DIFFER
    )
    after = mark[SOURCE_OFFSET] > word[SOURCE_OFFSET]
    return mark.isNotNull() & (word.isNull() | (after & ~put_for_later))


def _puts() -> Column:
    return (F.col(ENTRY) == Entry.PUT.value) & F.col(VERDICT).isNull()


def _asks() -> Column:
    policy = F.coalesce(F.contains(F.col(POLICY), F.lit(_SAME)), F.lit(False))
    return ((F.col(ENTRY) == CONTROL) | policy) & F.col(VERDICT).isNull()


def _fate(now: int) -> Column:
    return (
        F.when(F.col(VERDICT).isNotNull(), Fate.UNREADABLE.value)
        .when(F.col(_ASKING) > 0, Fate.ASKING.value)
        .when(F.col(ENTRY) == SENT, Fate.SENT.value)
        .when(F.col(ENTRY) == Entry.CANCEL.value, Fate.CANCELLED.value)
        .when(F.col(DUE) <= now, Fate.OVERDUE.value)
        .otherwise(Fate.PENDING.value)
    )
