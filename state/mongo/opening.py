"""Opens a state in MongoDB: for its one writer, or for reading."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from state.errors import StateError
from state.made import Made
from state.mongo.gather import read_meta
from state.mongo.inspector import MongoInspector
from state.mongo.journal import Chunk
from state.mongo.layout import META, create
from state.mongo.meta import META_ID
from state.mongo.reach import Reach
from state.mongo.receive import MongoTarget
from state.mongo.sending import Send, carry_out
from state.mongo.store import MongoStore
from state.mongo.transfer import MongoSource
from state.mongo.watcher import MongoWatcher
from state.settings import StateSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def open_mongo(settings: StateSettings, spark: "SparkSession | None" = None) -> MongoStore:
    """Open the state, and make it when it is not there yet."""
    reach = Reach(settings.mongo)
    reach.first(lambda: create(reach.db))
    return MongoStore(reach, settings, _sender(reach, settings, spark))


def open_mongo_inspector(settings: StateSettings) -> MongoInspector:
    """Open the state for reading."""
    return MongoInspector(Reach(settings.mongo))


def open_mongo_watcher(settings: StateSettings) -> MongoWatcher:
    """Open the state for a process that asks again and again."""
    return MongoWatcher(Reach(settings.mongo))


def make_mongo(settings: StateSettings) -> Made:
    """Make the collections, their indexes and the state, unless they are there."""
    reach = Reach(settings.mongo)
    try:
        place = f"the database {reach.first(lambda: reach.db).name} at {reach.address}"
        there = reach.first(lambda: reach.db[META].find_one({"_id": META_ID}) is not None)
        reach.first(lambda: create(reach.db))
        return Made(
            reach.first(lambda: read_meta(reach.db, reach.address)).state_id, place, not there
        )
    finally:
        reach.close()


def open_mongo_source(settings: StateSettings) -> MongoSource:
    """Open the state to be read out by a copy."""
    return MongoSource(Reach(settings.mongo))


def open_mongo_target(settings: StateSettings) -> MongoTarget:
    """Open the database that a copy writes to."""
    return MongoTarget(Reach(settings.mongo))


def _sender(reach: Reach, settings: StateSettings, spark: "SparkSession | None") -> Send:
    if settings.mongo.writer == "driver":

        def send(parts: Sequence[Chunk]) -> int:
            return carry_out(reach.db, parts)

        return send
    if spark is None:
        raise StateError(
            "state.mongo.writer is spark, and there is no Spark session here; set it to driver"
        )
    from state.mongo.spark_sender import SparkSender

    return SparkSender(spark, settings.mongo)
