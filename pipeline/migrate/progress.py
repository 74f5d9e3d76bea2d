"""Tells how far Spark is with a topic, by the tasks that have ended."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import uuid4

from pyspark import SparkContext
from pyspark.sql import SparkSession

Told = Callable[[int, int], None]  # how many are done, of how many

_EVERY = 0.5  # seconds


@contextmanager
def watched(spark: SparkSession, told: Told, tasks: int, total: int) -> Iterator[None]:
    """Tell about what Spark does in the block: it reads ``total`` records in ``tasks`` tasks.

    Later tasks are few and short; they count as nothing.
    """
    context = spark.sparkContext
    group = str(uuid4())
    context.setJobGroup(group, "duestream migrate")
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_EVERY):
            done = min(_completed(context, group), tasks)
            told(total * done // max(tasks, 1), total)

    watcher = threading.Thread(target=watch, name="progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    told(total, total)


def _completed(context: SparkContext, group: str) -> int:
    tracker = context.statusTracker()
    jobs = map(tracker.getJobInfo, tracker.getJobIdsForGroup(group))
    stages = [stage for job in jobs if job is not None for stage in job.stageIds]
    found = map(tracker.getStageInfo, stages)
    return sum(stage.numCompletedTasks for stage in found if stage is not None)
