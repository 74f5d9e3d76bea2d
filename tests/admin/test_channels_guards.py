"""Who may use channels, and with which settings and topics they are served at all."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import httpx
import pytest

from pipeline.admin.channels.check import require_channels
from pipeline.admin.others import others
from pipeline.config.load import load_settings
from pipeline.config.settings import Settings
from pipeline.local_kafka import LocalKafka
from state.errors import ConfigError, KafkaError
from tests.admin.channel_office import served
from tests.admin.office import OPERATOR, TOKENS, VIEWER

EVENTS = "/guarded/events/"


@pytest.fixture(scope="module")
def settings_with(
    broker: LocalKafka, topics: Callable[..., str], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Settings]:
    """Return settings whose channels have topics of their own; no job is needed for these."""
    source, state = topics("in"), tmp_path_factory.mktemp("state")

    def settings(**admin: Any) -> Settings:
        name = f"channels-{uuid4().hex}"
        flags: dict[str, object] = {
            "kafka.bootstrap_servers": broker.bootstrap_servers,
            "sources": [{"topic": source}],
            "outputs.allow": [name],
            "schedules.endless_repeats": "true",
            "state.delta.path": str(state),
            "admin.channels.port": "0",
            "admin.channels.topic": name,
        }
        return load_settings(flags=flags | {f"admin.{k}": v for k, v in admin.items()}, environ={})

    return settings


@contextmanager
def asking(settings: Settings, token: str | None = None) -> Iterator[httpx.Client]:
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    with served(settings) as url, httpx.Client(base_url=url, headers=headers, timeout=60) as client:
        yield client


def test_where_tokens_are_asked_for_channels_ask_too(
    settings_with: Callable[..., Settings],
) -> None:
    settings = settings_with(tokens=TOKENS)
    with asking(settings) as client:
        assert client.get(EVENTS).status_code == 401
        assert client.post(EVENTS, json={"data": "d"}).status_code == 401
    with asking(settings, VIEWER) as client:
        assert client.get(EVENTS).status_code == 200
        assert client.post(EVENTS, json={"data": "d"}).status_code == 403
    with asking(settings, OPERATOR) as client:
        assert client.post(EVENTS, json={"data": "d"}).status_code == 201


def test_open_channels_ask_nobody(settings_with: Callable[..., Settings]) -> None:
    with asking(settings_with(tokens=TOKENS, **{"channels.open": "true"})) as client:
        assert client.post(EVENTS, json={"data": "d"}).status_code == 201


def test_nothing_can_be_changed_where_all_is_read_only(
    settings_with: Callable[..., Settings],
) -> None:
    settings = settings_with(read_only="true", **{"channels.open": "true"})
    with asking(settings) as client:
        assert client.get(EVENTS).status_code == 200
        assert client.post(EVENTS, json={"data": "d"}).status_code == 403
        assert client.delete("/guarded/jobs/job").status_code == 403


def test_no_more_events_are_taken_than_there_is_room_for(
    settings_with: Callable[..., Settings],
) -> None:
    with asking(settings_with(**{"channels.max_events": "2"})) as client:
        first = client.post(EVENTS, json={"data": "d"}).json()["eventID"]
        assert client.post(EVENTS, json={"data": "d"}).status_code == 201
        full = client.post(EVENTS, json={"data": "d"})
        assert (full.status_code, full.json()["reason"]) == (503, "too_many_events")
        assert client.delete(EVENTS + first).status_code == 202
        assert client.post(EVENTS, json={"data": "d"}).status_code == 201


def test_a_lock_lasts_no_longer_than_allowed(settings_with: Callable[..., Settings]) -> None:
    with asking(settings_with(**{"channels.max_ttl": "1h"})) as client:
        event = client.post(EVENTS, json={"data": "d"}).json()["eventID"]
        long = client.patch(EVENTS + event, json={"action": "LOCK", "ttl": "2h"})
        assert (long.status_code, "max_ttl" in long.text) == (400, True)


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ({"schedules.endless_repeats": "false"}, r"schedules\.endless_repeats to true"),
        ({"outputs.allow": ["other"]}, r"admin\.channels\.topic: .* not on outputs\.allow"),
        ({"sources": [{"topic": "s", "dialect": "etf1"}]}, r"dialect cloudevents"),
    ],
)
def test_settings_by_which_the_job_would_take_nothing_are_refused(
    flags: dict[str, object], sentence: str
) -> None:
    good: dict[str, object] = {
        "outputs.allow": ["duestream.channels"],
        "schedules.endless_repeats": "true",
        "admin.channels.port": "0",
    }
    require_channels(load_settings(flags=good, environ={}))
    with pytest.raises(ConfigError, match=sentence):
        require_channels(load_settings(flags=good | flags, environ={}))


def test_no_schedule_may_write_to_the_topics_that_channels_keep() -> None:
    with pytest.raises(ConfigError, match=r"duestream\.channels\.log is a topic the job itself"):
        load_settings(
            flags={"admin.channels.port": "0", "outputs.allow": "duestream.channels.log"},
            environ={},
        )


@pytest.mark.parametrize(
    ("which", "partitions", "config", "sentence"),
    [
        (".log", 2, {}, "has 2 partitions"),
        (".log", 1, {"message.timestamp.type": "CreateTime"}, "LogAppendTime"),
        (".log", 1, {"retention.ms": "60000"}, "set retention.ms to 604800000"),
        (".jobs", 1, {}, "set it to compact"),
        ("", 3, {"cleanup.policy": "compact"}, "set it to delete"),
    ],
)
def test_a_topic_that_would_lose_something_is_refused(
    settings_with: Callable[..., Settings],
    broker: LocalKafka,
    which: str,
    partitions: int,
    config: dict[str, str],
    sentence: str,
) -> None:
    settings = settings_with()
    name = settings.admin.channels.topic + which
    by_broker = {"message.timestamp.type": "LogAppendTime"}
    broker.create_topics([name], partitions, by_broker | config)

    with pytest.raises(KafkaError, match=sentence):
        others(settings)


def test_a_page_of_another_site_can_neither_post_nor_take_the_name_of_this_server(
    settings_with: Callable[..., Settings],
) -> None:
    with asking(settings_with(**{"channels.open": "true"})) as client:
        foreign = {"origin": "https://evil.example", "content-type": "text/plain"}
        posted = client.post(EVENTS, content='{"data": "d"}', headers=foreign)
        named = client.get(EVENTS, headers={"host": "evil.example"})

        assert (posted.status_code, posted.json()["reason"]) == (403, "foreign_page")
        assert (named.status_code, named.json()["reason"]) == (421, "unknown_host")
        assert client.get(EVENTS).json()["count"] == 0
