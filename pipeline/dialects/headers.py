"""Reads the headers of a record by name, and writes those of a message."""

from contextlib import suppress

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.dialects.marks import ENDED
from pipeline.raw import RAW_HEADERS

_HEADERS = "array<struct<key:string,value:binary>>"
# How Spark takes two headers of one name; unless it is told, they stop the stream.
_POLICY, _LAST_WINS = "spark.sql.mapKeyDedupPolicy", "LAST_WIN"


def tell_policy(spark: SparkSession) -> None:
    """Tell the session that of two headers with one name the last counts, if it may be told."""
    with suppress(PySparkException):  # serverless compute allows few options
        spark.conf.set(_POLICY, _LAST_WINS)


def last_of_each(headers: Column) -> Column:
    """Return headers as a map of bytes; of several with one name the last.

    Where the session could not be told, each record has its headers compared, which takes a
    twentieth more of the time to decode it.
    """
    # Not the active one of this thread only: a start builds its plan in another.
    told = SparkSession.active().conf.get(_POLICY) == _LAST_WINS
    return F.map_from_entries(headers if told else _without_earlier(headers))


def first_of_each() -> Column:
    """Return the headers of a record as a map of bytes; of several with one name the first."""
    return last_of_each(F.reverse(F.col(RAW_HEADERS)))


def header(named: Column, name: str) -> Column:
    """Return the bytes of a header; null when it is not there."""
    return F.try_element_at(named, F.lit(name))


def with_more(added: dict[str, Column]) -> Column:
    """Return the headers of the record, and after them those in ``added``."""
    own = F.coalesce(F.col(RAW_HEADERS), F.array().cast(_HEADERS))
    more = [
        F.struct(F.lit(name).alias("key"), value.cast("binary").alias("value"))
        for name, value in added.items()
    ]
    return F.concat(own, F.array(*more).cast(_HEADERS))


def without_own_marks(records: DataFrame) -> DataFrame:
    """Drop the records by which a job says that it has sent a message; see the module marks."""
    named = F.exists("headers", lambda each: each["key"] == ENDED)
    return records.where(F.col("value").isNotNull() | ~F.coalesce(named, F.lit(False)))


def _without_earlier(headers: Column) -> Column:
    """Leave out headers that come again later, and look for them only where names repeat."""
    names = headers["key"]
    once = F.array_distinct(names)

    def last(name: Column) -> Column:
        same = F.filter(headers, lambda each: each["key"] == name)
        return F.struct(name.alias("key"), F.element_at(same, -1)["value"].alias("value"))

    return F.when(F.size(once) == F.size(names), headers).otherwise(F.transform(once, last))
