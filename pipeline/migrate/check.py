"""Looks through the topic of another scheduler and counts: what ``migrate check`` does."""

from collections import Counter
from collections.abc import Iterable

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from pipeline.config.blocks import SourceSettings
from pipeline.config.settings import Settings
from pipeline.facts import facts_of
from pipeline.migrate.fates import BEFORE, COUNT, ENDED, FATE, Fate, fates, tally
from pipeline.migrate.progress import Told, watched
from pipeline.migrate.reading import lines_of, tasks_of
from pipeline.migrate.report import Output, Report, Unread
from pipeline.migrate.span import Cluster, Span
from pipeline.raw import VERDICT
from pipeline.topology import rules
from state.row import OUTPUT_TOPIC, SOURCE_OFFSET, SOURCE_PARTITION

_WAITING = (Fate.PENDING, Fate.OVERDUE)
_CLOSED = (Fate.SENT, Fate.CANCELLED)


def check(
    spark: SparkSession,
    settings: Settings,
    source: SourceSettings,
    now: int,
    told: Told,
    reasons: int = 20,
    skip_overdue: bool = False,
) -> tuple[Report, Span]:
    """Count what is on the topic of ``source``, and tell the first ``reasons`` of refused ones.

    Where what is overdue is not to be sent, its output topics need not be allowed.
    """
    cluster = Cluster(settings.kafka)
    span = cluster.span_of(source.topic)
    lines = lines_of(spark, settings, source, span)
    with watched(spark, told, tasks_of(span), span.offsets):
        counted = tally(fates(lines, now)).collect()
    by_fate = _by_fate(counted)
    wanted = (Fate.PENDING,) if skip_overdue else _WAITING
    with watched(spark, told, tasks_of(span), span.offsets):
        unread = _first_unread(lines, reasons) if by_fate[Fate.UNREADABLE] else ()
    report = Report(
        source.topic,
        source.dialect,
        span.offsets,
        by_fate,
        _replaced(counted),
        tuple(_outputs([row for row in counted if row[FATE] in wanted], settings, cluster)),
        tuple(unread),
    )
    return report, span


def _by_fate(counted: Iterable[Row]) -> Counter[Fate]:
    found: Counter[Fate] = Counter()
    for row in counted:
        found[Fate(row[FATE])] += row[COUNT]
    return found


def _replaced(counted: Iterable[Row]) -> int:
    """Count the older versions; one that a cancel or a mark has ended is told of as such."""
    known = [row for row in counted if row[FATE] in (*_WAITING, *_CLOSED)]
    return sum(row[BEFORE] - row[ENDED] for row in known)


def _outputs(wanted: Iterable[Row], settings: Settings, cluster: Cluster) -> Iterable[Output]:
    admitted = rules(settings)
    bound: Counter[str] = Counter()
    for row in wanted:
        bound[row[OUTPUT_TOPIC]] += row[COUNT]
    for topic, count in bound.most_common():
        yield Output(topic, count, admitted.allows(topic), cluster.has(topic))


def _first_unread(lines: DataFrame, most: int) -> Iterable[Unread]:
    refused = lines.where(F.col(VERDICT).isNotNull())
    first = refused.orderBy(SOURCE_PARTITION, SOURCE_OFFSET).limit(most).toArrow()
    for row in first.to_pylist():
        reason, _, sentence = str(row[VERDICT]).partition(" ")
        told = sentence.format_map(facts_of(row))
        yield Unread(row[SOURCE_PARTITION], row[SOURCE_OFFSET], reason, told)
