"""Says what names a schedule, and what names a record that was refused."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from state.version import Version

_NUL = b"\0"


def schedule_identity(topic: Column, key: Column, partition: Column | None = None) -> Column:
    """Return the source topic, a NUL byte and the record key; null without a key.

    Instead of the topic there may be a name that several topics share. Where keys count within a
    partition only, its number and another NUL byte stand between.
    """
    nul = F.lit(bytearray(_NUL))
    between = [] if partition is None else [partition.cast("string").cast("binary"), nul]
    return F.concat(topic.cast("binary"), nul, *between, key)


def identity_of(topic: str, key: bytes, partition: int | None = None) -> bytes:
    """Return the same of one record."""
    between = b"" if partition is None else str(partition).encode() + _NUL
    return topic.encode() + _NUL + between + key


def rejection_identity(version: Version) -> bytes:
    """Return the name of a refused record; its leading NUL byte sets it apart from schedules."""
    place = f"{version.partition}:{version.offset}"
    return _NUL + version.topic.encode() + _NUL + place.encode()


def command_identity(version: Version) -> bytes:
    """Return the name of a command that was obeyed, apart from those of refused records."""
    return rejection_identity(version) + _NUL + b"command"
