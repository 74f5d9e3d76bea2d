"""Reads the streams of the job: records from the input topics, notes from its own, and a clock."""

from pyspark.sql import DataFrame, SparkSession

from pipeline.config.kafka import java_options
from pipeline.config.settings import Settings


def records(spark: SparkSession, settings: Settings) -> DataFrame:
    """Stream the input topics, at most so many records a batch."""
    pipeline = settings.pipeline
    read = _kafka(
        spark,
        settings,
        [source.topic for source in settings.sources],
        {
            "startingOffsets": pipeline.starting_offsets,
            "maxOffsetsPerTrigger": str(pipeline.max_offsets_per_trigger),
            **settings.kafka.source_options,
        },
    )
    # To set a task up costs more than to decode some hundred records.
    return read.coalesce(pipeline.decode_tasks)


def notes(spark: SparkSession, settings: Settings) -> DataFrame:
    """Stream the decisions of the outbox, all there are: a restart relies on having seen them."""
    return _kafka(spark, settings, [settings.internal_topic], {"startingOffsets": "earliest"})


def clock(spark: SparkSession) -> DataFrame:
    """Stream one row a batch, so that there is a batch whether or not anybody sent anything."""
    return spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()


def _kafka(
    spark: SparkSession, settings: Settings, topics: list[str], reading: dict[str, str]
) -> DataFrame:
    clients = {f"kafka.{name}": value for name, value in java_options(settings.kafka).items()}
    clients |= {k: v for k, v in settings.kafka.source_options.items() if k.startswith("kafka.")}
    return (
        spark.readStream.format("kafka")
        .options(
            **{
                "failOnDataLoss": "true",
                **clients,
                **reading,
                "kafka.isolation.level": "read_committed",
                "subscribe": ",".join(topics),
                "includeHeaders": "true",
            }
        )
        .load()
    )
