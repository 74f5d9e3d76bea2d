"""Says what names a schedule, and what names a record that was refused."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from state.version import Version

_NUL = b"\0"


def schedule_identity(topic: Column, key: Column) -> Column:
    """Return the source topic, a NUL byte and the record key; null without a key."""
    return F.concat(topic.cast("binary"), F.lit(bytearray(_NUL)), key)


def rejection_identity(version: Version) -> bytes:
    """Return the name of a refused record; its leading NUL byte sets it apart from schedules."""
    place = f"{version.partition}:{version.offset}"
    return _NUL + version.topic.encode() + _NUL + place.encode()
