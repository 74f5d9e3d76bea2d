"""The naive scheduler as a process: ``python -m bench.naive_job PLAN.json``.

What most would write first: Spark Structured Streaming reads the events; each micro-batch MERGEs
them into one Delta table (the last write of a key counts), selects what is due and pending,
publishes it with a plain producer and MERGEs it as done. It keeps to what makes Delta quick here:
the session of duestream's own jobs (UTC, two snapshot partitions, no automatic compaction, a quick
log store), statistics on the columns that rows are skipped by, the batch read from Kafka once, and
a second MERGE that names the instant, so that files of messages far ahead are not opened for it.
"""

import json
import sys
import time
from pathlib import Path

from confluent_kafka import Producer
from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.session import spark_session

_DAY_MS = 86_400_000
_OPTIONS = {
    "spark.databricks.delta.properties.defaults.checkpointInterval": "100",
    "spark.databricks.delta.properties.defaults.dataSkippingStatsColumns": "due,status",
}


class NaiveJob:
    """One table, one query at a time."""

    def __init__(self, spark: SparkSession, plan: dict) -> None:
        self._spark = spark
        self._plan = plan
        self._table = str(Path(plan["folder"]) / "table")
        self._told = Path(plan["told"])
        self._producer = Producer(
            {
                "bootstrap.servers": plan["servers"],
                "linger.ms": 5,
                "queue.buffering.max.messages": 1_000_000,
            }
        )

    def preload(self) -> None:
        """Append the rows that are due days ahead."""
        begun = time.monotonic()
        number = F.col("id")
        rows = self._spark.range(self._plan["pending"]).select(
            F.concat(F.lit("key-"), number.cast("string")).alias("key"),
            (F.lit(int(time.time() * 1000) + 7 * _DAY_MS) + number).alias("due"),
            F.lit(self._plan["output"]).alias("topic"),
            F.lit(b"x" * 200).alias("payload"),
            F.lit("pending").alias("status"),
        )
        rows.write.format("delta").mode("append").save(self._table)
        self._tell({"preloaded": self._plan["pending"], "seconds": time.monotonic() - begun})

    def run(self, phase: str, until: Path, most: int | None = None) -> None:
        """Serve in ticks back to back until the file ``until`` is there."""
        source = {
            "kafka.bootstrap.servers": self._plan["servers"],
            "subscribe": self._plan["input"],
            "startingOffsets": "earliest",
            "includeHeaders": "true",
        }
        if most is not None:
            source["maxOffsetsPerTrigger"] = str(most)
        events = self._spark.readStream.format("kafka").options(**source).load()
        writer = events.writeStream.foreachBatch(lambda batch, _: self._tick(phase, batch))
        place = str(Path(self._plan["folder"]) / "checkpoint")
        query = writer.option("checkpointLocation", place).start()
        while not until.exists() and query.isActive:
            query.awaitTermination(1)
        query.stop()
        if query.exception() is not None:
            raise query.exception()

    def _tick(self, phase: str, batch: DataFrame) -> None:
        laps = _Laps()
        self._tell({"phase": phase, "begun": time.time()})
        events = _events(batch).persist()
        laps.note("read", count=events.count())
        table = DeltaTable.forPath(self._spark, self._table)
        merge = table.alias("t").merge(events.alias("s"), "t.key = s.key")
        merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
        laps.note("merge")
        by = int(time.time() * 1000)
        due = table.toDF().where((F.col("status") == "pending") & (F.col("due") <= by))
        rows = due.select("key", "topic", "payload").toArrow()
        laps.note("select")
        self._publish(rows.to_pylist())
        laps.note("publish", published=rows.num_rows)
        out = self._spark.createDataFrame(rows.select(["key"]))
        same = f"t.key = s.key and t.status = 'pending' and t.due <= {by}"
        done = table.alias("t").merge(out.alias("s"), same)
        done.whenMatchedUpdate(set={"status": F.lit("done")}).execute()
        laps.note("mark")
        events.unpersist()
        self._tell({"phase": phase, "ended": time.time()} | laps.noted)

    def _publish(self, rows: list[dict]) -> None:
        for row in rows:
            self._producer.produce(row["topic"], row["payload"], row["key"])
        self._producer.flush()

    def _tell(self, line: dict) -> None:
        with self._told.open("a") as told:
            told.write(json.dumps(line) + "\n")


class _Laps:
    """How long the parts of a tick took, in seconds."""

    def __init__(self) -> None:
        self._since = time.monotonic()
        self.noted: dict[str, float] = {}

    def note(self, name: str, **more: int) -> None:
        now = time.monotonic()
        self.noted |= {name: now - self._since, **more}
        self._since = now


def _events(batch: DataFrame) -> DataFrame:
    """Return the newest event of each key, as a row of the table."""
    headers = F.map_from_entries(
        F.transform("headers", lambda h: F.struct(h["key"], h["value"].cast("string")))
    )
    rows = batch.select(
        F.col("key").cast("string").alias("key"),
        F.unix_millis(headers["ce_deliverat"].cast("timestamp")).alias("due"),
        headers["ce_outputtopic"].alias("topic"),
        F.col("value").alias("payload"),
        F.lit("pending").alias("status"),
        F.struct("timestamp", "offset").alias("age"),
    )
    columns = ["due", "topic", "payload", "status"]
    newest = F.max_by(F.struct(*columns), "age").alias("row")
    return rows.groupBy("key").agg(newest).select("key", *(f"row.{name}" for name in columns))


def main() -> None:
    """Preload, serve batches of a thousand until told, then whatever comes until told again."""
    plan = json.loads(Path(sys.argv[1]).read_text())
    spark = spark_session("naive", options=_OPTIONS)
    job = NaiveJob(spark, plan)
    job.preload()
    folder = Path(plan["folder"])
    job.run("bounded", folder / "bounded.end", most=plan["batch"])
    job.run("unbounded", folder / "unbounded.end")
    spark.stop()


if __name__ == "__main__":
    main()
