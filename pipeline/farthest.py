"""Says whether a message is due further ahead than it may be."""

from pyspark.sql import Column

from pipeline.clock import FARTHEST


def too_far(due: Column, since: Column) -> Column:
    """Tell whether ``due`` is so far after ``since`` that its unit must be wrong."""
    return due - since > FARTHEST
