"""Says what names a schedule, and what names a record that was refused."""

from pyspark.sql import Column
from pyspark.sql import functions as F

_NUL = bytearray(b"\0")


def schedule_identity(topic: Column, key: Column) -> Column:
    """Return the source topic, a NUL byte and the record key; null without a key."""
    return F.concat(topic.cast("binary"), F.lit(_NUL), key)


def rejection_identity(topic: Column, partition: Column, offset: Column) -> Column:
    """Return the name of a refused record; its leading NUL byte sets it apart from schedules."""
    place = F.concat_ws(":", partition.cast("string"), offset.cast("string"))
    return F.concat(F.lit(_NUL), topic.cast("binary"), F.lit(_NUL), place.cast("binary"))
