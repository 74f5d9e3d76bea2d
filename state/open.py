"""Opens the state that the settings name: the one place that knows the kinds of store."""

import uuid
from typing import TYPE_CHECKING

from deltalake.exceptions import DeltaError

from state.delta.inspector import DeltaInspector
from state.delta.native import NativeWriter, create_tables
from state.delta.runners import ProcessRunner
from state.delta.store import DeltaStore
from state.delta.tables import Tables, refuse_foreign, tables_of
from state.delta.upkeep import Upkeep
from state.errors import StateError
from state.inspect import Inspector
from state.memory import MemoryStore
from state.settings import StateSettings
from state.store import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def open_store(settings: StateSettings, spark: "SparkSession | None" = None) -> Store:
    """Open the state for its one writer, and make it when it is not there yet."""
    if settings.kind == "memory":
        return MemoryStore(settings.keep_closed)
    tables = tables_of(settings.delta)
    if settings.delta.writer == "spark":
        return _open_spark(tables, settings, spark)
    _make(tables, settings)
    runner = ProcessRunner(tables, settings.keep_closed, settings.delta.vacuum_age)
    upkeep = Upkeep(settings.delta, runner)
    return DeltaStore(tables, settings.delta, NativeWriter(tables), upkeep)


def open_inspector(settings: StateSettings) -> Inspector:
    """Open the state for reading, beside the job that writes it."""
    if settings.kind == "memory":
        raise StateError(
            "state.kind is memory: only the job itself can look into it; set state.kind to delta"
        )
    return DeltaInspector(tables_of(settings.delta))


def _make(tables: Tables, settings: StateSettings) -> None:
    if tables.exist():
        return
    refuse_foreign(tables)
    try:
        create_tables(
            tables, tables.unfinished_id() or str(uuid.uuid4()), settings.delta.vacuum_age
        )
    except (DeltaError, OSError) as error:
        raise StateError(
            f"no state could be made at state.delta.path {tables.path} ({error}); "
            "check the path, its permissions and state.delta.storage_options"
        ) from error


def _open_spark(tables: Tables, settings: StateSettings, spark: "SparkSession | None") -> Store:
    raise NotImplementedError
