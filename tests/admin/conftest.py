"""What tests of the web process share: a job on each store, and a server beside it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
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
from tests.integration.running import place, running

_FLAGS: dict[str, object] = {
    "admin.port": "0",
    "admin.tokens": TOKENS,
    "admin.rate_limit": "10000",  # tests ask in a hurry
    "pipeline.trigger_interval": "500ms",
    "publish.lookahead_min": "1500ms",
}


Open = Callable[[ExitStack], Any]


@pytest.fixture(scope="package")
def one_job() -> Iterator[Callable[[str, Open], Any]]:
    """Run one job at a time: the one asked for by name, until another one is.

    Keys and topics keep tests apart.
    """
    opened: dict[str, Any] = {}
    with ExitStack() as stack:

        def job_of(name: str, open_it: Open) -> Any:
            if name not in opened:
                opened.clear()
                stack.close()
                opened[name] = open_it(stack)
            return opened[name]

        yield job_of


@pytest.fixture(scope="package")
def offices(
    spark: SparkSession,
    broker: LocalKafka,
    topics: Callable[..., str],
    tmp_path_factory: pytest.TempPathFactory,
    one_job: Callable[[str, Open], Any],
) -> Callable[..., Office]:
    """Run a job and a server on the store that is asked for."""

    def office_of(kind: str, **flags: object) -> Office:
        def open_it(stack: ExitStack) -> Office:
            folder = tmp_path_factory.mktemp(f"office-{kind}")
            where = place(folder, broker.bootstrap_servers, topics, **_FLAGS | flags)
            stack.enter_context(running(spark, where.settings))
            return Office(stack.enter_context(served(where.settings)), where)

        return one_job(kind, open_it)

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
    spark: SparkSession,
    broker: LocalKafka,
    topics: Callable[..., str],
    tmp_path_factory: pytest.TempPathFactory,
    one_job: Callable[[str, Open], Any],
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
        stack.enter_context(running(spark, where.settings))
        return Channels(stack.enter_context(served_channels(where.settings)), where)

    return one_job("channels", open_it)
