"""Says how far ahead a message may be due."""

from pyspark.sql import Column

# About 100 years. What lies further ahead was almost surely meant in another unit.
FARTHEST = 36_525 * 86_400_000_000


def too_far(due: Column, since: Column) -> Column:
    """Tell whether ``due`` is so far after ``since`` that its unit must be wrong."""
    return due - since > FARTHEST
