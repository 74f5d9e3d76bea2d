"""Carries the batches of a query from the server of Spark Connect to the job, by the checkpoint.

Over Spark Connect a batch is handled on the server's side, in a process that is not the job's, and
on some platforms may not reach anything but Spark. So there it is only written down, below the
checkpoint; the job reads it back and takes it to the state and the outbox as ever. What is written
down is kept until the state has it: a job that died in between leaves it to the next one, whether
that has a driver of its own or not.

A job that dies leaves its query running on the server, which goes on to write batches down. Over
Spark Connect all is therefore taken after the run's own query has ended: to start it has ended the
other. A job with a driver of its own takes what is there before it starts, and refuses to go on if
its first batch then leaves one behind that was written in between.

A batch that the checkpoint does not count as done may be half written, and will come again. Only
the newest can be such a one, since Spark handles one after the other.
"""

import re
from collections.abc import Callable
from functools import partial

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from pipeline.first_line import first_line
from pipeline.said import Read
from state.crashpoint import StagedPoint, reach
from state.errors import StateError
from state.row import BATCH_TIME

FOLDER = "duestream-batches"
_NUMBER = re.compile(rf"/{FOLDER}/batch=(\d+)/[^/]*$")

Tick = Callable[[Read, int], None]


class Staged:
    """The batches that are written down; ``read`` makes of one what a tick takes.

    ``last_batch`` tells the newest batch that the state has; one that said nothing is not counted.
    """

    def __init__(
        self,
        spark: SparkSession,
        checkpoint: str,
        read: Callable[[DataFrame], pa.Table],
        last_batch: Callable[[], int],
    ) -> None:
        self._spark = spark
        self._checkpoint = checkpoint.rstrip("/")
        self._place = f"{self._checkpoint}/{FOLDER}"
        self._read = read
        self._last_batch = last_batch
        self._taken: set[int] = set()

    def writer(self) -> Callable[[DataFrame, int], None]:
        """Return what the server is to do with each batch; it needs none of our packages there."""
        place = self._place

        def write(batch: DataFrame, number: int) -> None:
            batch.write.mode("overwrite").parquet(f"{place}/batch={number}")

        return write

    def take_left(self, tick: Tick) -> None:
        """Take what runs over Spark Connect left, before a query of another kind begins.

        Each batch is emptied by itself: a query that still runs may write others meanwhile.
        """
        numbers = self._done(self._numbers())
        self._take_all(numbers, tick, lambda: False)
        for number in numbers:
            reach(StagedPoint.BEFORE_CLEARING)
            self._empty(f"batch={number}")

    def take(self, tick: Tick, stopped: Callable[[], bool]) -> None:
        """Take all there is, once the query of this run has ended; on ``stopped`` the rest is left.

        Everything is then removed, unless something came or is left.
        """
        numbers = self._numbers()
        reach(StagedPoint.AFTER_STAGING)
        self._take_all(self._done(numbers), tick, stopped)
        if numbers and self._is_known(numbers) and self._numbers() == numbers:
            reach(StagedPoint.BEFORE_CLEARING)
            self._empty("")

    def refuse_if_left(self, before: int) -> None:
        """Raise StateError if a batch below ``before`` is written down that nobody has taken."""
        numbers = [number for number in self._numbers() if number < before]
        unseen = [number for number in numbers if not self._is_known([number])]
        if any(self._rows(number) is not None for number in unseen):
            raise StateError(
                f"a run over Spark Connect has written down batch {unseen[0]} while this job "
                "started; start it again, it then takes that batch first"
            )

    def _take_all(self, numbers: list[int], tick: Tick, stopped: Callable[[], bool]) -> None:
        for number in numbers:
            if stopped():
                return
            if not self._is_known([number]):
                self._take(number, tick)
                self._taken.add(number)

    def _take(self, number: int, tick: Tick) -> None:
        rows = self._rows(number)
        if rows is not None:
            tick(partial(self._read, rows), number)

    def _rows(self, number: int) -> DataFrame | None:
        """Return what a batch holds; None of one that was taken and emptied.

        Every batch holds the time at least. One without was taken, and the job died emptying it.
        """
        try:
            rows = self._spark.read.parquet(f"{self._place}/batch={number}")
        except AnalysisException:  # no file that says what its columns are
            return None
        return rows if BATCH_TIME in rows.columns and rows.limit(1).count() else None

    def _is_known(self, numbers: list[int]) -> bool:
        return all(number <= self._last_batch() or number in self._taken for number in numbers)

    def _numbers(self) -> list[int]:
        files = self._spark.read.format("binaryFile").option("recursiveFileLookup", "true")
        try:
            paths = files.load(self._place).select("path").collect()
        except AnalysisException as error:
            if error.getCondition() != "PATH_NOT_FOUND":
                raise
            return []
        return sorted({int(found[1]) for (path,) in paths if (found := _NUMBER.search(path))})

    def _done(self, numbers: list[int]) -> list[int]:
        """Leave out the newest while the checkpoint does not count it as done."""
        if numbers and first_line(self._spark, f"{self._checkpoint}/commits/{numbers[-1]}") is None:
            return numbers[:-1]
        return numbers

    def _empty(self, what: str) -> None:
        """Leave a file without rows in place of a batch, or of all of them."""
        self._spark.range(0).write.mode("overwrite").parquet(f"{self._place}/{what}".rstrip("/"))
