"""Reads the streams of the job: records from the input topics, notes from its own, and a clock."""

from pyspark.sql import DataFrame, SparkSession

from pipeline.config.kafka import spark_source_options
from pipeline.config.settings import Settings
from pipeline.rights import GROUPS
from pipeline.withdraw import with_withdrawals

# Spark asks three times where a topic ends before it says that no broker answers. With Kafka's own
# minute for each it would take longer to say so than a job may be silent (health.tick_timeout).
_FOR_AN_ANSWER = {"kafka.default.api.timeout.ms": "20000", "kafka.request.timeout.ms": "15000"}


def records(spark: SparkSession, settings: Settings) -> DataFrame:
    """Stream the input topics, at most so many records a batch; the user's own options win.

    Topics whose records withdraw schedules are read with them: another source of the query would
    not fit a checkpoint that was made without it.
    """
    pipeline = settings.pipeline
    options = {
        "startingOffsets": pipeline.starting_offsets,
        "maxOffsetsPerTrigger": str(pipeline.max_offsets_per_trigger),
        "failOnDataLoss": "true",
        **spark_source_options(settings.kafka),
    }
    topics = [source.topic for source in settings.sources]
    read = _kafka(spark, sorted({*topics, *(rule.topic for rule in settings.withdraw)}), options)
    # To set a task up costs more than to decode some hundred records.
    return with_withdrawals(read.coalesce(pipeline.decode_tasks), settings.withdraw)


def notes(spark: SparkSession, settings: Settings) -> DataFrame:
    """Stream the decisions of the outbox, all there are: a restart relies on having seen them."""
    given = spark_source_options(settings.kafka)
    clients = {name: value for name, value in given.items() if name.startswith("kafka.")}
    options = clients | {"startingOffsets": "earliest", "failOnDataLoss": "true"}
    return _kafka(spark, [settings.internal_topic], options)


def clock(spark: SparkSession) -> DataFrame:
    """Stream one row a batch, so that there is a batch whether or not anybody sent anything."""
    return spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()


def with_timeouts(options: dict[str, str]) -> dict[str, str]:
    """Add how long to wait for brokers, unless the user says it: the two must fit each other."""
    return options if _FOR_AN_ANSWER.keys() & options.keys() else _FOR_AN_ANSWER | options


def _kafka(spark: SparkSession, topics: list[str], options: dict[str, str]) -> DataFrame:
    # One beginning for all names of groups: so one right covers them.
    options = {"groupIdPrefix": f"{GROUPS}source", **with_timeouts(options)}
    always = {
        "kafka.isolation.level": "read_committed",
        "subscribe": ",".join(topics),
        "includeHeaders": "true",
    }
    return spark.readStream.format("kafka").options(**(options | always)).load()
