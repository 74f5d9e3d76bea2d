"""Writes the tables through Spark, for catalogs that only Spark can write."""

import uuid

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from state.delta.layout import APP, CHANGELOG, HISTORY, SCHEDULES, TABLES, Layout, properties
from state.delta.tables import Tables
from state.delta.writer import GONE, another_writer
from state.errors import StateError
from state.row import HEADERS_TYPE, INSTANTS_TYPE

_TYPES = {
    pa.binary(): "BINARY",
    pa.string(): "STRING",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    HEADERS_TYPE: "ARRAY<STRUCT<key: STRING, value: BINARY>>",
    INSTANTS_TYPE: "ARRAY<BIGINT>",
}
_SAME_VERSION = (
    "t.source_topic = s.source_topic and t.source_partition = s.source_partition "
    "and t.source_offset = s.source_offset and t.occurrence = s.occurrence"
)


def create_tables_with_spark(spark: SparkSession, tables: Tables, state_id: str, keep: int) -> None:
    """Make the tables that are not there yet."""
    for layout in TABLES:
        given = properties(layout, state_id, keep) | {"delta.enableDeletionVectors": "false"}
        columns = ", ".join(f"`{f.name}` {_TYPES[f.type]}" for f in layout.schema)
        partition = f"PARTITIONED BY ({layout.partition})" if layout.partition else ""
        named = ", ".join(f"'{name}' = '{value}'" for name, value in given.items())
        spark.sql(
            f"CREATE TABLE IF NOT EXISTS {_name(tables, layout)} ({columns}) USING delta "
            f"{partition} TBLPROPERTIES ({named})"
        )


class SparkWriter:
    """Appends to the changelog.

    Spark leaves a commit out without a word when its number is known already, so each commit bears
    a name by which it is found again: a commit that is not the one just written is another job's.
    """

    def __init__(self, spark: SparkSession, tables: Tables) -> None:
        self._spark = spark
        self._tables = tables

    def append(self, lines: pa.Table, seq: int) -> None:
        """Append one commit; StateError when somebody else has written since the last one."""
        if self._tables.commits() != seq - 1:
            raise StateError(another_writer(self._tables.path))
        name = f"{seq} {uuid.uuid4()}"
        _append(self._spark, self._tables, CHANGELOG, lines, seq, name)
        recent = self._tables.open(CHANGELOG).history(5)
        if name not in {commit.get("userMetadata") for commit in recent}:
            raise StateError(another_writer(self._tables.path))

    def refresh(self) -> None:
        """Spark writes its checkpoints itself."""


class SparkFoldWriter:
    """Writes a fold's commits."""

    def __init__(self, spark: SparkSession, tables: Tables) -> None:
        self._spark = spark
        self._tables = tables

    def history_seq(self) -> int:
        """Return the commit up to which closed rows are in ``history``."""
        return self._tables.commits(HISTORY)

    def add_history(self, rows: pa.Table, seq: int) -> None:
        """Append closed rows, as known after commit ``seq``."""
        _append(self._spark, self._tables, HISTORY, rows, seq, f"fold to {seq}")

    def merge(self, source: pa.Table, buckets: list[str], seq: int, version: int) -> None:
        """Bring ``schedules`` from ``version`` to commit ``seq``; it must be the newest one."""
        if self._tables.open(SCHEDULES).version() != version:
            raise StateError(f"schedules is not at version {version} any more; fold it again")
        view = f"fold_{uuid.uuid4().hex}"
        frame(self._spark, source).createOrReplaceTempView(view)
        named = ", ".join(f"'{bucket}'" for bucket in buckets)
        columns = SCHEDULES.schema.names
        changes = ", ".join(f"t.{name} = s.{name}" for name in columns)
        values = ", ".join(f"s.{name}" for name in columns)
        try:
            self._spark.sql(
                f"MERGE INTO {_name(self._tables, SCHEDULES)} t USING {view} s "  # noqa: S608
                f"ON t.bucket in ({named}) and {_SAME_VERSION} "
                f"WHEN MATCHED AND s.{GONE} THEN DELETE "
                f"WHEN MATCHED THEN UPDATE SET {changes} "
                f"WHEN NOT MATCHED AND NOT s.{GONE} "
                f"THEN INSERT ({', '.join(columns)}) VALUES ({values})"
            )
        finally:
            self._spark.catalog.dropTempView(view)

    def delete(self, layout: Layout, predicate: str) -> None:
        """Delete rows; nothing is committed when there are none."""
        self._spark.sql(f"DELETE FROM {_name(self._tables, layout)} WHERE {predicate}")  # noqa: S608

    def tidy(self, keep: int) -> None:
        """Join small files, and drop those that nobody has used for ``keep`` microseconds."""
        for layout in (SCHEDULES, HISTORY):
            self._spark.sql(f"OPTIMIZE {_name(self._tables, layout)}")
        for layout in TABLES:
            self._spark.sql(f"VACUUM {_name(self._tables, layout)}")


def frame(spark: SparkSession, rows: pa.Table) -> DataFrame:
    """Return rows as a data frame in one partition, for one file."""
    # Spark 4.2 stops reading at the first empty batch: rows after it would be lost without a word.
    made: DataFrame = spark.createDataFrame(rows.combine_chunks())
    return made.coalesce(1)


def _append(
    spark: SparkSession, tables: Tables, layout: Layout, rows: pa.Table, seq: int, name: str
) -> None:
    writer = frame(spark, rows).write.format("delta").mode("append")
    writer = writer.option("txnAppId", APP).option("txnVersion", seq).option("userMetadata", name)
    writer.save(tables.uri(layout))


def _name(tables: Tables, layout: Layout) -> str:
    return f"delta.`{tables.uri(layout)}`"
