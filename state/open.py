"""Opens the state that the settings name: the one place that knows the kinds of store."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from deltalake.exceptions import DeltaError

from state.copying import Source, Target
from state.delta.fold_steps import fold_and_tidy
from state.delta.folded import Folded
from state.delta.inspector import DeltaInspector
from state.delta.native import NativeWriter, create_tables
from state.delta.receive import DeltaTarget
from state.delta.register import register
from state.delta.runners import ProcessRunner, ThreadRunner
from state.delta.store import DeltaStore
from state.delta.tables import Tables, refuse_foreign, tables_of, tables_to_read
from state.delta.transfer import DeltaSource
from state.delta.upkeep import Upkeep
from state.delta.watcher import DeltaWatcher
from state.errors import StateError
from state.inspector import Inspector
from state.made import Made
from state.memory import MemoryStore
from state.settings import StateSettings
from state.store import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def open_store(settings: StateSettings, spark: "SparkSession | None" = None) -> Store:
    """Open the state for its one writer, and make it when it is not there yet."""
    if settings.kind == "memory":
        return MemoryStore(settings.keep_closed)
    if settings.kind == "mongo":
        return _open_mongo(settings, spark)
    tables = tables_of(settings.delta)
    open_delta = _open_spark if settings.delta.writer == "spark" else _open_native
    store = open_delta(tables, settings, spark)
    if settings.delta.catalog_schema is not None and spark is not None:
        register(spark, tables, settings.delta.catalog_schema)
    return store


def needs_spark(settings: StateSettings) -> bool:
    """Tell whether a session of Spark has a part in how the state is opened or written."""
    if settings.kind == "mongo":
        return settings.mongo.writer == "spark"
    delta = settings.delta
    named = delta.catalog_schema is not None
    return settings.kind == "delta" and (delta.writer == "spark" or named)


def open_inspector(settings: StateSettings, spark: "SparkSession | None" = None) -> Inspector:
    """Open the state for reading, beside the job that writes it.

    Where state.delta.catalog_schema is set and no path, the tables are found by name, by ``spark``
    or the session that is active; none is started, and Spark reads nothing of them.
    """
    if settings.kind == "memory":
        raise StateError(
            "state.kind is memory: only the job itself can look into it; set state.kind to delta "
            "or mongo"
        )
    if settings.kind == "mongo":
        return _inspect_mongo(settings)
    return DeltaInspector(tables_to_read(settings.delta, spark))


def open_watcher(settings: StateSettings) -> Inspector:
    """Open the state for a process that looks into it for a long time, from any of its threads.

    Answers are as fresh and as exact as those of ``open_inspector``, which is for a question or
    two. On Delta all live rows and the newest closed ones are held in memory, without payloads; in
    MongoDB what is pending is not counted but taken from totals that the job keeps.
    """
    if settings.kind == "memory":
        return open_inspector(settings)
    if settings.kind == "mongo":
        with _pymongo_told():
            from state.mongo.opening import open_mongo_watcher
        return open_mongo_watcher(settings)
    return DeltaWatcher(tables_of(settings.delta))


def make_state(settings: StateSettings) -> Made:
    """Make the tables or collections of the state, unless they are there."""
    if settings.kind == "memory":
        raise StateError(
            "state.kind is memory: there is nothing to make, the job begins with an empty state; "
            "set state.kind to delta or mongo"
        )
    if settings.kind == "mongo":
        with _pymongo_told():
            from state.mongo.opening import make_mongo
        return make_mongo(settings)
    tables = tables_of(settings.delta)
    there = tables.exist()
    if not there and settings.delta.writer == "spark":
        raise StateError(
            "state.delta.writer is spark: the job makes the tables when it is first started with "
            "`duestream run`"
        )
    _make(tables, lambda name: create_tables(tables, name, settings.delta.vacuum_age))
    return Made(tables.state_id(), f"state.delta.path {tables.path}", not there)


def open_source(settings: StateSettings) -> Source:
    """Open the state to be read out by a copy."""
    if settings.kind == "mongo":
        with _pymongo_told():
            from state.mongo.opening import open_mongo_source
        return open_mongo_source(settings)
    return DeltaSource(tables_of(settings.delta))


def open_target(settings: StateSettings, now: int) -> Target:
    """Open the place that a copy writes to."""
    if settings.kind == "mongo":
        with _pymongo_told():
            from state.mongo.opening import open_mongo_target
        return open_mongo_target(settings)
    return DeltaTarget(tables_of(settings.delta), settings.delta.vacuum_age, now)


def _open_mongo(settings: StateSettings, spark: "SparkSession | None") -> Store:
    with _pymongo_told():
        from state.mongo.opening import open_mongo
    return open_mongo(settings, spark)


def _inspect_mongo(settings: StateSettings) -> Inspector:
    with _pymongo_told():
        from state.mongo.opening import open_mongo_inspector
    return open_mongo_inspector(settings)


@contextmanager
def _pymongo_told() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in ("pymongo", "bson"):
            raise
        raise StateError(
            "state.kind is mongo, and pymongo is not installed; pip install 'duestream[mongo]'"
        ) from error


def _open_native(
    tables: Tables, settings: StateSettings, _spark: "SparkSession | None" = None
) -> Store:
    delta = settings.delta
    _make(tables, lambda name: create_tables(tables, name, delta.vacuum_age))
    runner = ProcessRunner(tables, settings.keep_closed, delta.vacuum_age)
    return DeltaStore(tables, delta, NativeWriter(tables), Upkeep(delta, runner))


def _open_spark(tables: Tables, settings: StateSettings, spark: "SparkSession | None") -> Store:
    if spark is None:
        raise StateError(
            "state.delta.writer is spark, and there is no Spark session here; set it to native"
        )
    from state.delta import spark_writer as by_spark

    delta, writer = settings.delta, by_spark.SparkFoldWriter(spark, tables)

    def work(now: int, tidy: bool) -> Folded:
        age = delta.vacuum_age if tidy else None
        return fold_and_tidy(tables, writer, now, settings.keep_closed, age)

    _make(
        tables,
        lambda name: by_spark.create_tables_with_spark(spark, tables, name, delta.vacuum_age),
    )
    upkeep = Upkeep(delta, ThreadRunner(work))
    return DeltaStore(tables, delta, by_spark.SparkWriter(spark, tables), upkeep)


def _make(tables: Tables, create: Callable[[str], None]) -> None:
    if tables.exist():
        return
    refuse_foreign(tables)
    try:
        create(tables.unfinished_id() or str(uuid.uuid4()))
    except (DeltaError, OSError) as error:
        raise StateError(
            f"no state could be made at state.delta.path {tables.path} ({error}); "
            "check the path, its permissions and state.delta.storage_options"
        ) from error
