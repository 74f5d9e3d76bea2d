"""Says which of two versions of one identity is the newer."""

from typing import NamedTuple

Coordinates = tuple[str, int, int, int]  # topic, partition, offset, occurrence: one version


class Version(NamedTuple):
    """The record that made this version of a schedule, and which of its occurrences it is."""

    topic: str
    partition: int
    offset: int
    timestamp: int  # microseconds, as the broker or the producer stamped the record
    occurrence: int = 0

    @property
    def record(self) -> tuple[str, int, int]:
        """Where the record is that made it."""
        return self.topic, self.partition, self.offset

    @property
    def coordinates(self) -> Coordinates:
        """What names this version and no other."""
        return self.topic, self.partition, self.offset, self.occurrence


def is_newer(candidate: Version, known: Version | None) -> bool:
    """Tell whether ``candidate`` comes after ``known``; the same record again does not.

    It is a matter of records only: no occurrence of a record is newer than another one of it.

    On one partition the offset decides. Across partitions (a producer changed its partitioner, or
    the topic was widened) the record timestamp decides, and at the same timestamp the higher
    partition, so that every reader comes to the same answer.
    """
    if known is None:
        return True
    if (candidate.topic, candidate.partition) == (known.topic, known.partition):
        return candidate.offset > known.offset
    return (candidate.timestamp, candidate.partition) > (known.timestamp, known.partition)
