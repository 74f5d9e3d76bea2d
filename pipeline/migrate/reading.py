"""Reads a topic within bounds, and makes of its records what the job would make of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from pipeline.admit import admit
from pipeline.asked import Asking, with_policies
from pipeline.away import cause_of, is_kafka_away
from pipeline.config.blocks import SourceSettings
from pipeline.config.kafka import spark_source_options
from pipeline.config.settings import Settings
from pipeline.dialects.choose import decode
from pipeline.dialects.headers import tell_policy
from pipeline.dialects.marks import says_sent
from pipeline.dialects.wishes import IN_META
from pipeline.fitting import fitting
from pipeline.lines import command_lines
from pipeline.migrate.span import Span
from pipeline.raw import LINE, RAW_HEADERS
from pipeline.topology import rules
from pipeline.withdraw import SCHEDULED_ON
from state.errors import KafkaError
from state.row import ENTRY, Entry

SENT = "sent"  # ENTRY of a record by which the other scheduler says that a message is out
RECORDS_A_TASK = 50_000

_EVERY_TOPIC = ("*", "__*")
_MARK = "\0sent"  # a header that stands in place of those of a mark, while it is decoded
_MARK_TYPE = "array<struct<key: string, value: binary>>"


def lines_of(
    spark: SparkSession, settings: Settings, source: SourceSettings, span: Span
) -> DataFrame:
    """Return a line for each record of ``span``, see ``as_lines``."""
    tell_policy(spark)
    records = _records(spark, settings, span).withColumn(SCHEDULED_ON, F.col("topic"))
    return as_lines(records, settings, source)


def as_lines(records: DataFrame, settings: Settings, source: SourceSettings) -> DataFrame:
    """Return a line for each record of ``source`` (pipeline.raw.LINE).

    It is refused for the reasons for which the job would refuse it, but for outputs.allow: what
    is not allowed is told by topic. The marks of the other scheduler have SENT as their ENTRY.
    """
    admitted = replace(rules(settings), allow=_EVERY_TOPIC)
    lines = (
        records.transform(_with_marks, source.dialect)
        .transform(decode, [source])
        .transform(admit, admitted)
        .withColumn(ENTRY, _entry())
        .transform(command_lines)
    )
    if source.dialect != "cloudevents" and settings.state.largest_row is None:
        return lines
    asking = Asking(admitted, settings.schedules.endless_repeats, IN_META)
    return _judged(lines, asking, settings.state.largest_row)


@contextmanager
def failures_told(topic: str) -> Iterator[None]:
    """Turn what Spark says of a topic it cannot read into a sentence."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        if is_kafka_away(error):
            raise KafkaError("Kafka cannot be reached; run it again when it is back") from error
        raise KafkaError(
            f"{topic} cannot be read: {cause_of(error)}; mend the cause and run it again"
        ) from error


def tasks_of(span: Span) -> int:
    """Return in how many tasks a span is read."""
    return max(len(span.ends), -(-span.offsets // RECORDS_A_TASK))


def _records(spark: SparkSession, settings: Settings, span: Span) -> DataFrame:
    given = spark_source_options(settings.kafka)
    options = {name: value for name, value in given.items() if name.startswith("kafka.")}
    options |= {
        "kafka.isolation.level": "read_committed",
        "includeHeaders": "true",
        "failOnDataLoss": "true",
        "minPartitions": str(tasks_of(span)),
    }
    return spark.read.format("kafka").options(**(options | span.for_spark())).load()


def _with_marks(records: DataFrame, dialect: str) -> DataFrame:
    """Have the dialect read marks as cancels, and have them found again by their one header."""

    def is_mark(key: bytes | None, headers: list[Row] | None) -> bool:
        pairs = [(header["key"], header["value"]) for header in headers or ()]
        return says_sent(dialect, None if key is None else bytes(key), None, pairs)

    silent = F.col("value").isNull()
    # Only of those without a value anything is carried to Python.
    asked = F.udf(is_mark, "boolean", useArrow=False)
    told = asked(F.when(silent, F.col("key")), F.when(silent, F.col("headers")))
    mark = F.array(F.struct(F.lit(_MARK), F.lit(None).cast("binary"))).cast(_MARK_TYPE)
    headers = F.when(silent & told, mark).otherwise(F.col("headers"))
    return records.withColumn("headers", headers)


def _entry() -> Column:
    marked = F.exists(RAW_HEADERS, lambda header: header["key"] == _MARK)
    cancels = F.col(ENTRY) == Entry.CANCEL.value
    return F.when(cancels & F.coalesce(marked, F.lit(False)), SENT).otherwise(F.col(ENTRY))


def _judged(lines: DataFrame, asking: Asking, largest: int | None) -> DataFrame:
    """Do what the job does on its driver where records ask for more, or may be too large."""

    def judge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            table = pa.Table.from_batches([batch]).cast(LINE)
            yield from with_policies(fitting(table, largest), asking).to_batches()

    return lines.mapInArrow(judge, from_arrow_schema(LINE))
