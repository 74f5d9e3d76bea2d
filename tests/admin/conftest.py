"""What tests of the web process share: a job on each store, and a server beside it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from uuid import uuid4

import pytest
from playwright.sync_api import Browser
from pyspark.sql import SparkSession

from pipeline.local_kafka import LocalKafka
from tests.admin.browsing import Surfer, surfing
from tests.admin.channel_office import Channels
from tests.admin.channel_office import served as served_channels
from tests.admin.chromium import chromium
from tests.admin.office import OPERATOR, TOKENS, VIEWER, Office, served
from tests.admin.one_job import OneJob
from tests.integration.running import place, running
from tests.sharing import job_of

_FLAGS: dict[str, object] = {
    "admin.port": "0",
    "admin.tokens": TOKENS,
    "admin.rate_limit": "10000",  # tests ask in a hurry
    "pipeline.trigger_interval": "500ms",
    "publish.lookahead_min": "1500ms",
}


_JOB = OneJob()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """End the job after the last test that needs it: the fixtures of a folder live to the end."""
    if nextitem is not None and job_of(nextitem.nodeid) != job_of(item.nodeid):
        _JOB.close()


@pytest.fixture(scope="session")
def spark_of_jobs(spark: SparkSession, broker: LocalKafka) -> Iterator[SparkSession]:
    """Lend the session; where no other tests follow, the job ends before session and broker do."""
    yield spark
    _JOB.close()


@pytest.fixture(scope="module")
def offices(
    spark_of_jobs: SparkSession,
    broker: LocalKafka,
    topics: Callable[..., str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[..., Office]:
    """Run a job and a server on the store that is asked for; keys and topics keep tests apart."""

    def office_of(kind: str, **flags: object) -> Office:
        def open_it(stack: ExitStack) -> Office:
            folder = tmp_path_factory.mktemp(f"office-{kind}")
            where = place(folder, broker.bootstrap_servers, topics, **_FLAGS | flags)
            stack.enter_context(running(spark_of_jobs, where.settings))
            return Office(stack.enter_context(served(where.settings)), where)

        opened: Office = _JOB.get(kind, open_it)
        return opened

    return office_of


@pytest.fixture(scope="module", params=["delta", "mongo"])
def office(request: pytest.FixtureRequest, offices: Callable[..., Office]) -> Office:
    """Return the office of a store."""
    if request.param == "delta":
        return offices("delta")
    uri = request.getfixturevalue("mongo").uri
    place = {"state.mongo.uri": uri, "state.mongo.database": f"office_{uuid4().hex}"}
    return offices("mongo", **{"state.kind": "mongo"} | place)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start a browser; not for all tests, because its loop would be in the way of others."""
    with chromium() as started:
        yield started


@pytest.fixture
def operator(browser: Browser, office: Office) -> Iterator[Surfer]:
    """Somebody who may act, logged in."""
    with surfing(browser, office.url) as surfer:
        surfer.log_in(OPERATOR)
        yield surfer


@pytest.fixture
def viewer(browser: Browser, office: Office) -> Iterator[Surfer]:
    """Somebody who may look, logged in."""
    with surfing(browser, office.url) as surfer:
        surfer.log_in(VIEWER)
        yield surfer


@pytest.fixture
def aside(topics: Callable[..., str]) -> str:
    """Name an output topic of a test's own; what goes to ``missing-*`` is allowed."""
    return topics("missing")


@pytest.fixture(scope="module")
def channels(
    spark_of_jobs: SparkSession,
    broker: LocalKafka,
    topics: Callable[..., str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Channels:
    """Run one job and serve channels beside it, for all tests of channels."""
    name = f"channels-{uuid4().hex}"
    flags: dict[str, object] = {
        "outputs.allow": [name],
        "schedules.endless_repeats": "true",
        "pipeline.trigger_interval": "500ms",
        "publish.lookahead_min": "1500ms",
        "admin.port": "0",
        "admin.channels.port": "0",
        "admin.channels.topic": name,
    }

    def open_it(stack: ExitStack) -> Channels:
        folder = tmp_path_factory.mktemp("channels")
        where = place(folder, broker.bootstrap_servers, topics, **flags)
        stack.enter_context(running(spark_of_jobs, where.settings))
        return Channels(stack.enter_context(served_channels(where.settings)), where)

    opened: Channels = _JOB.get("channels", open_it)
    return opened
