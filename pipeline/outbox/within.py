"""Waits for a job of Spark for so long and no longer: a task that hangs must not stop the lanes."""

import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, TypeVar
from uuid import uuid4

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOOK = 0.2  # seconds from one look at the time to the next
_STOPPING = 10.0  # seconds that are left once the job is told to stop
_ENDS = 5.0  # seconds in which a cancelled job has to end before nobody waits for it any more

Answer = TypeVar("Answer")


def within(
    seconds: float,
    spark: "SparkSession",
    run: Callable[[], Answer],
    stopping: Callable[[], bool],
) -> Answer:
    """Return what ``run`` returns; raise TimeoutError, with its jobs cancelled, if it takes longer.

    It runs in a thread of its own, which is left behind if even the cancelling does not end it.
    """
    from pyspark.util import InheritableThread

    group, answer = f"duestream-{uuid4().hex}", Future[Answer]()

    def answering() -> None:
        try:
            spark.sparkContext.setJobGroup(group, "duestream publishes what is overdue")
            answer.set_result(run())
        except BaseException as error:
            answer.set_exception(error)

    InheritableThread(answering, name=group, daemon=True).start()
    if not _is_done(answer, time.monotonic() + seconds, stopping):
        spark.sparkContext.cancelJobGroup(group)
        if wait([answer], _ENDS).not_done or answer.exception() is not None:
            raise TimeoutError("the tasks took too long and were cancelled")
    return answer.result()


def _is_done(answer: "Future[Answer]", give_up: float, stopping: Callable[[], bool]) -> bool:
    """Wait for an answer, or for the time to be over; it is over sooner where the job stops."""
    told = False
    while time.monotonic() < give_up:
        if not told and stopping():
            told, give_up = True, min(give_up, time.monotonic() + _STOPPING)
        if wait([answer], _LOOK).done:
            return True
    return False
