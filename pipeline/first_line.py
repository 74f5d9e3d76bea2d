"""Reads a small file where Spark reads and writes: beside a checkpoint."""

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession


def first_line(spark: SparkSession, path: str) -> str | None:
    """Return the first line of a file, or of those in a folder; None when there is none."""
    try:
        line = spark.read.text(path).first()
    except AnalysisException:  # no such path
        return None
    return str(line[0]) if line else None
