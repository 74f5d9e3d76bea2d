"""Finds the tables of a state by their names in Spark's catalog, where only a path could open them.

The session is asked where a table lies, and for nothing else: it is read without Spark.
"""

import sys
from typing import TYPE_CHECKING

from state.delta.layout import LAYOUT_PROPERTY, SCHEDULES
from state.errors import StateError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def path_by_name(schema: str, spark: "SparkSession | None" = None) -> str:
    """Return the path of the state whose tables have names in ``schema``.

    ``spark`` is the session to ask, else the one that is active; none is started. StateError where
    there is none, or no such table.
    """
    session = spark or _active()
    if session is None:
        raise StateError(
            f"state.delta.catalog_schema {schema}: there is no Spark session here that knows "
            "tables by name; set state.delta.path to the folder or URI that holds them"
        )
    location, properties = _described(session, schema)
    path, _, last = location.rstrip("/").rpartition("/")
    if LAYOUT_PROPERTY not in properties or last != SCHEDULES.name:
        raise StateError(
            f"state.delta.catalog_schema {schema} has a table {SCHEDULES.name} that is not of a "
            "state of duestream; set the schema that the job was given, or state.delta.path"
        )
    return local_path(path)


def quoted(schema: str, table: str) -> str:
    """Return the name of a table as it is written in SQL."""
    return ".".join(f"`{part}`" for part in [*schema.split("."), table])


def local_path(uri: str) -> str:
    """Return a URI as programs other than Spark open it: what is a file on this machine by path."""
    if uri.startswith("dbfs:/Volumes/"):
        return uri.removeprefix("dbfs:")
    if uri.startswith("dbfs:/"):
        return f"/dbfs/{uri.removeprefix('dbfs:').lstrip('/')}"
    if uri.startswith("file:/"):
        return f"/{uri.removeprefix('file:').lstrip('/')}"
    return uri


def _described(spark: "SparkSession", schema: str) -> tuple[str, dict[str, str]]:
    from pyspark.errors import PySparkException

    name = quoted(schema, SCHEDULES.name)
    try:
        (found,) = spark.sql(f"DESCRIBE DETAIL {name}").select("location", "properties").collect()
    except PySparkException as error:
        why = str(error).strip().splitlines()[0]
        raise StateError(
            f"no table {SCHEDULES.name} can be looked at in state.delta.catalog_schema {schema} "
            f"({why}); set the schema that the job was given, grant its tables to the reader, or "
            "set state.delta.path"
        ) from error
    return found["location"] or "", found["properties"] or {}


def _active() -> "SparkSession | None":
    if "pyspark" not in sys.modules:
        return None  # and it need not be loaded to know that
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    try:
        return SparkSession.active()
    except PySparkRuntimeError:
        return None
