"""Reads the headers of a record by name, and writes those of a message."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.dialects.marks import ENDED
from pipeline.raw import RAW_HEADERS

_HEADERS = "array<struct<key:string,value:binary>>"


def first_of_each() -> Column:
    """Return the headers of a record as a map of bytes; of several with one name the first.

    The session must have been told MAP_POLICY (pipeline.dialects.attributes): the last counts, of
    the headers turned round.
    """
    return F.map_from_entries(F.reverse(F.col(RAW_HEADERS)))


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
