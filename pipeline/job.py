"""One run of the job: everything opened in the right order, and let go of in the right order."""

import logging
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from pipeline.away import Pauses, is_kafka_away, told
from pipeline.backlog import Backlog
from pipeline.beside import Beside
from pipeline.binding import bind
from pipeline.clock import now_micros
from pipeline.config.kafka import librdkafka_options
from pipeline.config.settings import Settings
from pipeline.dialects.choose import names_in
from pipeline.horizon import Horizon
from pipeline.lag import Lag
from pipeline.light_plan import light_plan
from pipeline.lookout import Lookout, Names
from pipeline.measure import Measure
from pipeline.observe.observer import SILENT, Observer
from pipeline.outbox.deputies import are_worth_it
from pipeline.outbox.report import ended
from pipeline.outbox.start import start_outbox
from pipeline.presence import Presence
from pipeline.quiet import quiet
from pipeline.remote import is_remote
from pipeline.said import Read
from pipeline.staged import Staged
from pipeline.tick import Ticker
from pipeline.topology import lines, reader, topology
from state.errors import DuestreamError, KafkaError
from state.open import open_store
from state.row import Status
from state.store import Store

_MOMENT = 1_000_000  # microseconds

log = logging.getLogger(__name__)


class Job:
    """The streaming query with its store and outbox; use it as a context."""

    def __init__(
        self,
        spark: SparkSession,
        settings: Settings,
        measure: Measure,
        once: bool,
        observer: Observer = SILENT,
        opened: Callable[[], Store] | None = None,
    ) -> None:
        """Open all of it; ``opened`` gives the store if somebody has begun to open it already."""
        self._spark = spark
        self._settings = settings
        self._once = once
        self._remote = is_remote(spark)
        self._observer = observer
        self._lag = Lag(observer)
        self._told = False
        self._ticked = False
        self._closing = ExitStack()
        try:
            self._open(measure, opened)
        except BaseException:
            self._closing.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._settle()
        finally:
            self._closing.close()

    def run_until(self, stopped: Callable[[], bool]) -> None:
        """Tick until told to stop; raise what ended the query, unless it was Kafka being away."""
        every = f"{self._settings.pipeline.trigger_interval // 1000} milliseconds"
        pauses = Pauses()
        self._take_left()
        while True:
            query = self._query({"processingTime": every})
            try:
                self._watch(query, stopped)
            except StreamingQueryException as error:
                if not is_kafka_away(error):
                    raise told(error) from error
                self._observer.waits("Kafka cannot be reached")
                pauses.after(error, self._ticker.count, stopped)
            else:
                break
        self._stop(query)

    def _stop(self, query: StreamingQuery) -> None:
        """End the query after the batch under way, which no longer waits for those that are away.

        Raise what stopped that batch; nobody else hears of it.
        """
        self._store.give_up()
        self._outbox.give_up()
        self._ticker.stop()
        query.stop()
        if isinstance(self._ticker.failure, DuestreamError):
            raise self._ticker.failure

    def _watch(self, query: StreamingQuery, stopped: Callable[[], bool]) -> None:
        while not stopped() and not self._ended(query, timeout=1):
            self._lag.look(query)
            if not self._told and self._ticker.count:  # the first batch compiles: it takes long
                log.info("running; schedules are taken from %s", self._inputs())
                self._told = True

    @property
    def is_quiet(self) -> bool:
        """Whether nothing falls due in the next second."""
        return self._outbox.is_quiet(now_micros() + _MOMENT)

    def run_once(self, stopped: Callable[[], bool] = lambda: False) -> None:
        """Take in what is there, publish what is due, and return."""
        try:
            self._run_once(stopped)
        except PySparkException as error:
            if is_kafka_away(error):
                raise KafkaError(
                    "Kafka cannot be reached; run it again when it is back: what was taken is in "
                    "the state"
                ) from error
            raise told(error) from error

    def _run_once(self, stopped: Callable[[], bool]) -> None:
        log.info("taking what is there from %s", self._inputs())
        self._take_left()
        in_vain = 0
        while in_vain < 2:  # a batch claims so many at most, and what was due when it was planned
            before = self._ticker.claimed
            if not self._took_all(stopped):
                return
            if self._remote:
                self._staged.take(self._ticker, stopped)
            self._outbox.drain(stopped)
            if stopped() or not self._has_due():
                return
            in_vain = 0 if self._ticker.claimed > before else in_vain + 1

    def _took_all(self, stopped: Callable[[], bool]) -> bool:
        """Run a query over what is there; False if it was stopped."""
        self._ticker.begin_query()
        query = self._query({"availableNow": True})
        try:
            while not self._ended(query, timeout=1):
                if stopped():
                    self._stop(query)
                    return False
        except PySparkException:
            raise
        except BaseException:  # a session that is lent, or a server's, outlives the job
            with suppress(PySparkException):
                query.stop()
            raise
        return True

    def _open(self, measure: Measure, opened: Callable[[], Store] | None) -> None:
        settings, later = self._settings, self._closing
        self._first_sink = None if self._remote else Beside(self._sink)
        if self._first_sink is not None:  # it takes seconds, in which all else can be opened
            later.callback(self._first_sink.drop)
        self._store = opened() if opened else open_store(settings.state, self._spark)
        later.callback(self._store.close)
        self._checkpoint = settings.pipeline.checkpoint or later.enter_context(
            tempfile.TemporaryDirectory(prefix="duestream-checkpoint-")
        )
        bind(self._spark, self._checkpoint, self._store)
        self._staged = Staged(
            self._spark, self._checkpoint, reader(settings), lambda: self._store.last_batch
        )
        clients = quiet(librdkafka_options(settings.kafka))
        presence = Presence(clients, self._store.state_id, settings.internal_topic)
        later.callback(presence.close)
        presence.announce()
        self._store.renew()  # whoever was there before may have ended since it was opened
        self._outbox, out = start_outbox(
            settings,
            self._store,
            now_micros(),
            self._observer,
            self._publishers_elsewhere(),
        )
        later.callback(self._outbox.stop)
        if settings.publish.watch_input and not self._once:
            later.callback(Lookout(clients, _watched(settings), self._outbox.saw).close)
        self._ticker = Ticker(
            self._store,
            self._outbox,
            self._horizon(),
            self._backlog(),
            measure,
            settings.schedules.miss_after,
            self._observer,
            self._once,
            defers=settings.publish.guarantee == "exactly_once",
        )
        self._ticker.close_when_new(out, now_micros())

    def _publishers_elsewhere(self) -> SparkSession | None:
        """Return the session whose executors may publish, None where they are not there for it."""
        if self._remote or not are_worth_it(self._spark, self._settings.publish.lanes):
            return None
        return self._spark

    def _horizon(self) -> Horizon:
        publish = self._settings.publish
        return (
            Horizon(0, 0) if self._once else Horizon(publish.lookahead_min, publish.lookahead_max)
        )

    def _backlog(self) -> Backlog:
        publish, outputs = self._settings.publish, self._settings.outputs
        return Backlog(publish.claim_limit, publish.outbox_limit, outputs.backlog_rate)

    def _query(self, trigger: dict[str, Any]) -> StreamingQuery:
        first, self._first_sink = self._first_sink, None
        stream = (
            (first.take() if first else self._sink())
            .queryName(self._settings.name)
            .option("checkpointLocation", self._checkpoint)
            .trigger(**trigger)
        )
        if self._remote:
            return stream.start()
        with light_plan(self._spark):
            return stream.start()

    def _sink(self) -> DataStreamWriter:
        if self._remote:
            stream = lines(self._spark, self._settings).writeStream
            return stream.foreachBatch(self._staged.writer())
        return topology(self._spark, self._settings, self._tick)

    def _tick(self, read: Read, number: int) -> None:
        """Take one batch to the ticker; the first only if none was written down before it."""

        def read_first() -> pa.Table:
            self._staged.refuse_if_left(number)
            self._ticked = True
            return read()

        self._ticker(read if self._ticked else read_first, number)

    def _take_left(self) -> None:
        """Take what a run over Spark Connect has read and not taken; such a run does it itself."""
        if self._remote:
            return
        try:
            self._staged.take_left(self._ticker)
        except PySparkException as error:
            raise told(error) from error

    def _ended(self, query: StreamingQuery, timeout: int) -> bool:
        """Wait a while; tell whether the query has ended, and raise why if it failed."""
        try:
            return bool(query.awaitTermination(timeout))
        except StreamingQueryException as error:
            if isinstance(self._ticker.failure, DuestreamError):
                raise self._ticker.failure from error
            raise

    def _has_due(self) -> bool:
        due = self._store.next_due()
        return due is not None and due <= now_micros()

    def _settle(self) -> None:
        """Write down what went out since the last batch, and put back what still waits."""
        waiting = self._outbox.stop()
        outcomes = [self._outbox.reported(), ended(waiting, Status.PENDING)]
        self._store.settle(pa.concat_tables(outcomes), now_micros())

    def _inputs(self) -> str:
        return ", ".join(source.topic for source in self._settings.sources)


def _watched(settings: Settings) -> dict[str, Names]:
    """Return the topics whose every record is about the schedule of its key, and its name."""
    sources = {source.topic: names_in(source) for source in settings.sources}
    withdrawn = {
        rule.topic: sources[rule.source]
        for rule in settings.withdraw
        if rule.key is None and not rule.where
    }
    return withdrawn | sources
