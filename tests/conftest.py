"""What tests share: a broker, a MongoDB, a Spark session, topics and databases of their own."""

import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Message
from pymongo import MongoClient
from pyspark import SparkContext
from pyspark.sql import SparkSession

from pipeline.local_kafka import LocalKafka
from pipeline.local_mongo import LocalMongo
from pipeline.session import spark_session
from tests.reading import read_committed
from tests.sharing import ByJob, by_job

_NUMBERS = itertools.count(1)
Read = Callable[[str], list[Message]]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByJob:
    """Say which tests go to the same process."""
    return ByJob(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Take tests of the web process job by job."""
    items[:] = by_job(items)


@pytest.fixture(scope="session")
def broker() -> Iterator[LocalKafka]:
    """Serve a broker to all tests; those that stop or kill one start their own."""
    with LocalKafka() as kafka:
        yield kafka


@dataclass(frozen=True, slots=True)
class Mongo:
    """Where a MongoDB is served to tests."""

    uri: str


@pytest.fixture(scope="session")
def mongo() -> Iterator[Mongo]:
    """Serve a MongoDB to all tests: that of DUESTREAM_TEST_MONGO_URI, else one of our own."""
    uri = os.environ.get("DUESTREAM_TEST_MONGO_URI")
    if uri:
        yield Mongo(uri)
        return
    with LocalMongo() as served:
        yield Mongo(served.uri)


@pytest.fixture
def database(mongo: Mongo) -> Iterator[str]:
    """Name a database no other test has; it is dropped afterwards."""
    name = f"test_{os.getpid()}_{next(_NUMBERS)}"
    yield name
    client: MongoClient[dict[str, Any]]
    with MongoClient(mongo.uri) as client:
        client.drop_database(name)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Open the product's own session, small, and away from the working folder."""
    warehouse: Path = tmp_path_factory.mktemp("warehouse")
    options = {"spark.sql.warehouse.dir": str(warehouse), "spark.default.parallelism": "2"}
    session = spark_session("tests", "local[2]", options)
    yield session
    session.stop()
    _end_java()


def _end_java() -> None:
    # Stopping a session leaves its JVM, whose Kafka producers then complain of the broker's end.
    gateway, SparkContext._gateway, SparkContext._jvm = SparkContext._gateway, None, None
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()


@pytest.fixture(scope="session")
def topics(broker: LocalKafka) -> Callable[..., str]:
    """Create a topic at each call, with a name no other test has, and return the name."""

    def create(name: str = "topic", partitions: int = 1, **config: str) -> str:
        unique = f"{name}-{os.getpid()}-{next(_NUMBERS)}"
        settings = {key.replace("_", "."): value for key, value in config.items()}
        broker.create_topics([unique], partitions, settings)
        return unique

    return create


@pytest.fixture
def read(broker: LocalKafka) -> Read:
    """Read everything committed on a topic so far."""

    def read_all(topic: str) -> list[Message]:
        return read_committed(broker.bootstrap_servers, topic)

    return read_all
