"""One import: the state opened, nobody else on it, the topic counted, what is pending taken."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from pyspark.sql import SparkSession

from pipeline.clock import now_micros
from pipeline.config.blocks import SourceSettings
from pipeline.config.kafka import librdkafka_options
from pipeline.config.settings import Settings
from pipeline.migrate.check import check
from pipeline.migrate.fates import Fate
from pipeline.migrate.importing import Choice, rows_to_take, take_all
from pipeline.migrate.progress import Told
from pipeline.migrate.reading import lines_of
from pipeline.migrate.report import ASKING_SENTENCE, Report
from pipeline.migrate.span import Span
from pipeline.presence import Presence
from pipeline.quiet import quiet
from pipeline.topics import prepare_topics
from state.errors import StateError
from state.inspect import Stats
from state.open import open_inspector, open_store
from state.row import COMMANDS, Status
from state.store import Store


@dataclass(frozen=True, slots=True)
class Wish:
    """What an import may leave out."""

    skip_overdue: bool = False
    skip_unreadable: bool = False
    as_of: int | None = None  # overdue is what was due by then; else by now


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of an import; ``accepted`` is None if nothing was begun."""

    report: Report
    accepted: int | None = None  # schedules that the state had not known
    ended: int = 0  # schedules of the state that a record on the topic has ended since


def run_import(
    spark: SparkSession,
    settings: Settings,
    source: SourceSettings,
    wish: Wish,
    told: tuple[Told, Told],
) -> Imported:
    """Import the topic of ``source``; ``told`` are told of the reading and of the taking."""
    prepare_topics(settings)
    now = now_micros() if wish.as_of is None else wish.as_of
    with _alone_on(spark, settings) as store:
        report, span = check(spark, settings, source, now, told[0], skip_overdue=wish.skip_overdue)
        if report.fates[Fate.ASKING]:
            raise StateError(ASKING_SENTENCE.format(count=report.fates[Fate.ASKING]))
        if report.left_out and not wish.skip_unreadable:
            return Imported(report)
        before = _stats(settings)
        held = before.ledger.ends[Status.PENDING]
        choice = Choice(now, wish.skip_overdue, with_ends=held > 0)
        _take(spark, settings, source, store, report, span, choice, told[1])
        after = _stats(settings)
    accepted = after.ledger.accepted - before.ledger.accepted
    return Imported(report, accepted, _ended(after) - _ended(before))


def _take(
    spark: SparkSession,
    settings: Settings,
    source: SourceSettings,
    store: Store,
    report: Report,
    span: Span,
    choice: Choice,
    told: Told,
) -> None:
    lines, lanes = lines_of(spark, settings, source, span), settings.publish.lanes
    done, total = 0, report.waiting
    for rows in take_all(store, rows_to_take(lines, report, choice), lanes):
        done += rows
        told(min(done, total), total)
    store.take(COMMANDS.empty_table(), span.last, now_micros(), lanes)
    told(total, total)


@contextmanager
def _alone_on(spark: SparkSession, settings: Settings) -> Iterator[Store]:
    """Open the state, and be the one that writes it, as a job would."""
    with ExitStack() as later:
        store = open_store(settings.state, spark)
        later.callback(store.close)
        options = quiet(librdkafka_options(settings.kafka))
        presence = Presence(options, store.state_id, settings.internal_topic)
        later.callback(presence.close)
        presence.announce()
        if store.unsettled().num_rows:
            raise StateError(
                "the job of this state did not stop cleanly: messages of it are under way; start "
                "it with `duestream run --once`, then import"
            )
        yield store


def _stats(settings: Settings) -> Stats:
    return open_inspector(settings.state).stats(now_micros())


def _ended(stats: Stats) -> int:
    return stats.ledger.ends[Status.CANCELLED] + stats.ledger.ends[Status.REPLACED]
