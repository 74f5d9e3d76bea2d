"""Has Spark's executors send the bulk writes of a commit, some of them at a time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bson.raw_bson import RawBSONDocument

from state.mongo.journal import Chunk
from state.mongo.reach import Reach
from state.mongo.sending import carry_out
from state.settings import MongoSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SparkSender:
    """Sends chunks from executors; each tries again by itself while the server is away."""

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
        return int(rdd.map(lambda chunk: _send(settings, chunk)).sum())


def _send(settings: MongoSettings, plain: tuple[Chunk, list[bytes]]) -> int:
    empty, items = plain
    chunk = empty._replace(items=[RawBSONDocument(item) for item in items])
    reach = Reach(settings)
    try:
        return reach.surely(lambda: carry_out(reach.db, [chunk]))
    finally:
        reach.close()
