"""Channels while Kafka is away: they say so, and go on when it is back."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from pipeline.config.load import load_settings
from pipeline.config.settings import Settings
from pipeline.local_kafka import LocalKafka
from tests.admin.channel_office import events_of, lock, posted, served
from tests.integration.running import wait_for


@pytest.fixture
def own_broker() -> Iterator[LocalKafka]:
    with LocalKafka() as kafka:
        kafka.create_topics(["duestream.schedules"])
        yield kafka


def settings_of(kafka: LocalKafka, folder: Path) -> Settings:
    flags: dict[str, object] = {
        "kafka.bootstrap_servers": kafka.bootstrap_servers,
        "outputs.allow": ["duestream.channels"],
        "schedules.endless_repeats": "true",
        "state.delta.path": str(folder),
        "admin.channels.port": "0",
    }
    return load_settings(flags=flags, environ={})


def test_what_was_answered_is_there_after_the_broker_was_killed(
    own_broker: LocalKafka, tmp_path: Path
) -> None:
    with (
        served(settings_of(own_broker, tmp_path)) as url,
        httpx.Client(base_url=url, timeout=120) as client,
    ):
        event = posted(client, "c")
        assert lock(client, "c", event["eventID"], ttl="1h") == 202
        own_broker.kill()

        away = client.post("/c/events/", json={"data": "d"})
        assert (away.status_code, away.json()["reason"]) == (503, "unavailable")
        assert client.get("/c/events/").status_code == 503

        own_broker.start()
        wait_for(lambda: client.get("/c/events/").status_code == 200, "Kafka to be back")
        assert {**event, "isLocked": True} in events_of(client, "c")
        assert lock(client, "c", event["eventID"]) == 410
        assert posted(client, "c")["eventID"] in {e["eventID"] for e in events_of(client, "c")}
