"""Has Spark plan the micro-batches without rules that find nothing to do in them.

Every batch is planned anew, and the plan that decodes records is large: a rule that looks through
all of it takes milliseconds of each tick. These are for tables in files and for queries that people
write; they have changed nothing in a plan of ours.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

_OPTION = "spark.sql.optimizer.excludedRules"
_IDLE = (
    "org.apache.spark.sql.execution.datasources.PruneFileSourcePartitions",
    "org.apache.spark.sql.execution.datasources.SchemaPruning",
    "org.apache.spark.sql.execution.datasources.PushVariantIntoScan",
    "org.apache.spark.sql.catalyst.optimizer.OptimizeCsvJsonExprs",
    "org.apache.spark.sql.catalyst.optimizer.OptimizeOneRowRelationSubquery",
    "org.apache.spark.sql.delta.metric.OptimizeConditionalIncrementMetric",
    "org.apache.spark.sql.delta.optimizer.RangePartitionIdRewrite",
)


@contextmanager
def light_plan(spark: SparkSession) -> Iterator[None]:
    """Start a query in here: it takes the session's options with it, and plans by them."""
    given = spark.conf.get(_OPTION, None)
    spark.conf.set(_OPTION, ",".join([*([given] if given else []), *_IDLE]))
    try:
        yield
    finally:
        if given is None:
            spark.conf.unset(_OPTION)
        else:
            spark.conf.set(_OPTION, given)
