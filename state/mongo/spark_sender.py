"""Has Spark's executors send the bulk writes of a commit, some of them at a time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bson.raw_bson import RawBSONDocument
from pymongo.errors import AutoReconnect, PyMongoError

from state.mongo.journal import Chunk
from state.mongo.reach import Reach, is_passing
from state.mongo.sending import carry_out
from state.settings import MongoSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SparkSender:
    """Sends chunks from executors; what one finds of a server that is away the driver hears."""

    def __init__(self, spark: "SparkSession", settings: MongoSettings) -> None:
        self._spark = spark
        self._settings = settings

    def __call__(self, parts: Sequence[Chunk]) -> int:
        """Have all chunks carried out; return how many changes had been made already."""
        if not parts:
            return 0
        settings = self._settings
        plain = [(chunk._replace(items=()), [bytes(i.raw) for i in chunk.items]) for chunk in parts]
        rdd = self._spark.sparkContext.parallelize(plain, len(plain))
        stale = 0
        for count, away in rdd.map(lambda chunk: _send(settings, chunk)).collect():
            if away is not None:
                raise AutoReconnect(away)  # the driver waits, and is told to stop
            stale += count
        return stale


def _send(settings: MongoSettings, plain: tuple[Chunk, list[bytes]]) -> tuple[int, str | None]:
    """Send one chunk; return how many came too late, or why the server cannot be used just now."""
    empty, items = plain
    chunk = empty._replace(items=[RawBSONDocument(item) for item in items])
    reach = Reach(settings)
    try:
        return carry_out(reach.db, [chunk]), None
    except PyMongoError as error:
        if is_passing(error):
            return 0, str(error)
        raise
    finally:
        reach.close()
