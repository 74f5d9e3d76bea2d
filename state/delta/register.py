"""Makes the tables of a state known to Spark's catalog, so that others find them by name."""

from pathlib import Path
from typing import TYPE_CHECKING

from state.delta.layout import STATE_ID_PROPERTY, TABLES, Layout
from state.delta.named import quoted
from state.delta.tables import Tables
from state.errors import StateError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(spark: "SparkSession", tables: Tables, schema: str) -> None:
    """Make external tables of ``schema`` out of the state, unless they are there already.

    StateError when the schema is not there, may not be used, or has such tables of another state.
    """
    from pyspark.errors import PySparkException

    for layout in TABLES:
        name = quoted(schema, layout.name)
        try:
            spark.sql(
                f"CREATE TABLE IF NOT EXISTS {name} USING delta LOCATION '{_place(tables, layout)}'"
            )
            found = spark.sql(f"DESCRIBE DETAIL {name}").select("properties").first()
        except PySparkException as error:
            raise StateError(_refused(schema, layout, error)) from error
        if found is None or found[0].get(STATE_ID_PROPERTY) != tables.state_id():
            raise StateError(
                f"state.delta.catalog_schema {schema} has a table {layout.name} of another state; "
                "set a schema of its own, or drop that table from the catalog"
            )


def _place(tables: Tables, layout: Layout) -> str:
    """Return where a table is; Spark would look for a relative path in its warehouse."""
    uri = tables.uri(layout)
    return (uri if "://" in uri else str(Path(uri).absolute())).replace("'", "\\'")


def _refused(schema: str, layout: Layout, error: Exception) -> str:
    why = str(error).strip().splitlines()[0]
    return (
        f"the table {layout.name} could not be made known in state.delta.catalog_schema {schema} "
        f"({why}); make that schema, grant the job the right to create tables there, or set it to "
        "null"
    )
