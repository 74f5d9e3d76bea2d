"""Says which of two versions of one identity is the newer."""

from typing import NamedTuple


class Version(NamedTuple):
    """The coordinates of the record that made this version of a schedule."""

    topic: str
    partition: int
    offset: int
    timestamp: int  # microseconds, as the broker or the producer stamped the record


def is_newer(candidate: Version, known: Version | None) -> bool:
    """Tell whether ``candidate`` comes after ``known``; the same record again does not.

    On one partition the offset decides. Across partitions (a producer changed its partitioner, or
    the topic was widened) the record timestamp decides, and at the same timestamp the higher
    partition, so that every reader comes to the same answer.
    """
    if known is None:
        return True
    if (candidate.topic, candidate.partition) == (known.topic, known.partition):
        return candidate.offset > known.offset
    return (candidate.timestamp, candidate.partition) > (known.timestamp, known.partition)
