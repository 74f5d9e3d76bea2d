"""Has tasks of Spark run errands, one task for each lane."""

import logging
import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from pipeline.outbox.errand import Done, Errand, Means, run_errand
from pipeline.outbox.within import within

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

# Of all errands: the driver's JVM, of 1 GiB by default, has each two or three times until it is
# sent. Besides, Spark takes 128 MiB for one (spark.rpc.message.maxSize).
_MOST_BYTES = 100 * 1024 * 1024
_CAUSE = re.compile(r"(Caused by: )?[\w.]*(Error|Exception): ")
_CORES = 2  # a lane needs, where tasks and driver share a machine
_LIMIT = 30.0  # seconds for all tasks, and besides ...
_SLOWEST = 4_000  # ... a second for so many messages: the driver alone is several times as quick
_AGAIN = 600.0  # seconds for which executors are left alone after they had trouble


def are_worth_it(spark: "SparkSession", lanes: int) -> bool:
    """Tell whether tasks would have cores that the driver and its lanes do not need anyway."""
    context = spark.sparkContext
    is_local = (context.master or "").startswith("local")
    return not is_local or context.defaultParallelism >= _CORES * lanes


class Deputies:
    """Tasks that publish in the driver's stead; nothing depends on their doing so."""

    def __init__(
        self,
        spark: "SparkSession",
        means: Means,
        stopping: Callable[[], bool] = lambda: False,
        limit: float = _LIMIT,
    ) -> None:
        self._spark = spark
        self._means = means
        self._stopping = stopping
        self._limit = limit
        self._not_before = 0.0

    @property
    def are_able(self) -> bool:
        """Whether it is worth the trouble to send them, as far as is known."""
        return time.monotonic() >= self._not_before

    def can_carry(self, sizes: Iterable[int]) -> bool:
        """Tell whether errands of so many bytes are small enough to be sent."""
        return sum(sizes) <= _MOST_BYTES

    def run(self, errands: Sequence[Errand], count: int) -> list[Done]:
        """Run errands with so many messages and return how they went.

        None where Spark's job has failed, or took so long that it was cancelled.
        """
        means, context = self._means, self._spark.sparkContext

        def collected() -> list[Done]:
            tasks = context.parallelize(errands, len(errands))
            return tasks.map(lambda errand: run_errand(means, errand)).collect()

        limit = self._limit + count / _SLOWEST
        try:
            done = within(limit, self._spark, collected, self._stopping)
        except Exception as error:  # whatever Spark raises: lanes and markers are as they are
            log.warning("executors did not publish to the end: %s", _why(error))
            return []
        for each in done:
            if each.trouble is not None:
                log.warning("an executor left lane %d early: %s", each.lane, each.trouble)
        return done

    def had_trouble(self) -> None:
        """Leave executors alone for a while: all lanes rest until the slowest of them gives up.

        They cannot reach Kafka, some of them at least, or lack the package, or are too slow.
        """
        self._not_before = time.monotonic() + _AGAIN
        log.warning(
            "executors have not published all they were given, so the driver goes on by itself; "
            "they are tried again in %d minutes. Check that all of them reach Kafka and have the "
            "files that kafka names, or set publish.executors_above: null",
            _AGAIN // 60,
        )


def _why(error: Exception) -> str:
    """Return the line of Spark's long story that names the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line for line in lines if _CAUSE.match(line)]
    return (causes or lines or [type(error).__name__])[-1 if causes else 0][:500]
