"""Ties a checkpoint to the one state it belongs to.

Batches are numbered by the checkpoint and remembered by the state. With a checkpoint of another
state the numbers would not fit: batches would be taken for repeats and their messages be lost.
"""

from pyspark.sql import SparkSession

from pipeline.first_line import first_line, write_line
from state.errors import StateError
from state.store import Store

_FOLDER = "duestream-state"


def bind(spark: SparkSession, checkpoint: str, store: Store) -> None:
    """Make sure that ``checkpoint`` belongs to ``store``, and write it down when both are new."""
    place = f"{checkpoint.rstrip('/')}/{_FOLDER}"
    owner = first_line(spark, place)
    if owner == store.state_id:
        return
    if owner is not None:
        raise StateError(_mismatch(checkpoint, f"the checkpoint was made with state {owner}"))
    if store.last_batch >= 0:
        raise StateError(_mismatch(checkpoint, "the checkpoint is new but the state is not"))
    if first_line(spark, f"{checkpoint.rstrip('/')}/metadata") is not None:
        raise StateError(_mismatch(checkpoint, "the state is new but the checkpoint is not"))
    write_line(spark, place, store.state_id)


def _mismatch(checkpoint: str, why: str) -> str:
    return (
        f"the checkpoint {checkpoint} does not belong to the configured state: {why}; set "
        "pipeline.checkpoint and the state (state.delta.path, or state.mongo.database) to a pair "
        "that was used together, or both to new places"
    )
