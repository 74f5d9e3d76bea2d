"""Jobs of channels: defined once, they publish again and again until they are deleted."""

import threading
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import httpx
import pytest

from state import row
from state.inspect import Filter
from state.open import open_inspector
from state.row import Status
from tests.admin.channel_office import Channels, events_of, lock, served
from tests.integration.running import Place, wait_for


@pytest.fixture
def client(channels: Channels) -> Iterator[httpx.Client]:
    with channels.ask() as asking:
        yield asking


@pytest.fixture
def channel() -> str:
    return f"channel-{uuid4().hex}"


def define(client: httpx.Client, channel: str, name: str = "job", **body: Any) -> httpx.Response:
    said = {"name": name, "data": "tick", "cronDef": "@hourly", **body}
    return client.post(f"/{channel}/jobs", json=said)


def jobs_of(client: httpx.Client, channel: str) -> list[dict[str, Any]]:
    answer = client.get(f"/{channel}/jobs")
    assert answer.status_code == 200
    jobs: list[dict[str, Any]] = answer.json()["jobs"]
    assert answer.json() == {"channelName": channel, "count": len(jobs), "jobs": jobs}
    return jobs


def schedule_of(place: Place, channel: str) -> list[dict[str, Any]]:
    """Return what waits for a channel in the state."""
    waiting = open_inspector(place.settings.state).rows(Filter(statuses=[Status.PENDING]))
    return [line for line in waiting.to_pylist() if line[row.OUTPUT_KEY] == channel.encode()]


def test_a_job_is_listed_until_it_is_deleted(client: httpx.Client, channel: str) -> None:
    answer = define(client, channel, "clean", cronDef="30 9 * * MON-FRI", ttl="48h")
    job = {"name": "clean", "data": "tick", "cronDef": "30 9 * * MON-FRI", "ttl": "48h"}

    assert (answer.status_code, answer.json()) == (201, job)
    assert jobs_of(client, channel) == [job]
    assert client.delete(f"/{channel}/jobs/clean").status_code == 202
    assert jobs_of(client, channel) == []
    assert client.delete(f"/{channel}/jobs/clean").status_code == 404


def test_a_name_is_given_once_until_it_is_free_again(client: httpx.Client, channel: str) -> None:
    assert define(client, channel, data="first").status_code == 201
    assert define(client, channel, data="second").status_code == 409
    assert define(client, f"{channel}-other").status_code == 201
    assert [job["data"] for job in jobs_of(client, channel)] == ["first"]

    assert client.delete(f"/{channel}/jobs/job").status_code == 202
    assert define(client, channel, data="third").status_code == 201
    assert [job["data"] for job in jobs_of(client, channel)] == ["third"]


def test_a_job_publishes_again_and_again_events_of_their_own(
    client: httpx.Client, channel: str
) -> None:
    assert define(client, channel, cronDef="@every 2s", ttl="5m").status_code == 201

    wait_for(lambda: len(events_of(client, channel)) >= 3, "three events")
    events = events_of(client, channel)[:3]
    assert {event["data"] for event in events} == {"tick"}
    assert len({event["eventID"] for event in events}) == 3
    assert client.delete(f"/{channel}/jobs/job").status_code == 202
    assert lock(client, channel, events[0]["eventID"]) == 202
    assert client.delete(f"/{channel}/events/{events[1]['eventID']}").status_code == 202
    left = [event["eventID"] for event in events_of(client, channel)[:2]]
    assert left == [events[0]["eventID"], events[2]["eventID"]]


def test_a_deleted_job_publishes_no_more(
    client: httpx.Client, channels: Channels, channel: str
) -> None:
    assert define(client, channel, cronDef="@every 1s").status_code == 201
    wait_for(lambda: events_of(client, channel) != [], "the first event")

    assert client.delete(f"/{channel}/jobs/job").status_code == 202
    wait_for(lambda: schedule_of(channels.place, channel) == [], "its schedule to be cancelled")


def test_a_job_keeps_the_time_of_its_zone(
    client: httpx.Client, channels: Channels, channel: str
) -> None:
    zoned = "CRON_TZ=Asia/Kolkata 15 10 * * *"
    assert define(client, channel, cronDef=zoned).status_code == 201
    wait_for(lambda: schedule_of(channels.place, channel) != [], "the job to take it")

    [waiting] = schedule_of(channels.place, channel)
    shown = datetime.fromtimestamp(waiting[row.DUE] / 1e6, ZoneInfo("Asia/Kolkata"))
    assert (shown.hour, shown.minute, shown.second) == (10, 15, 0)


@pytest.mark.parametrize(
    "cron",
    ["@hourly", "@daily", "@weekly", "@monthly", "@yearly", "@every 1h30m", "0 0 1 JAN SUN"],
)
def test_what_people_write_as_cron_is_taken(client: httpx.Client, channel: str, cron: str) -> None:
    assert define(client, channel, cronDef=cron).status_code == 201


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"name": ""}, "name"),
        ({"name": 7}, "name"),
        ({"data": None}, "data"),
        ({"cronDef": "often"}, "cronDef"),
        ({"cronDef": None}, "cronDef"),
        ({"cronDef": "0 0 30 2 *"}, "cronDef"),
        ({"cronDef": "@every 10ms"}, "cronDef"),
        ({"cronDef": "@every x"}, "cronDef"),
        ({"cronDef": "CRON_TZ=Mars/Base 0 0 * * *"}, "cronDef"),
        ({"ttl": "x"}, "ttl"),
    ],
)
def test_a_job_that_is_wrong_is_refused_by_its_field(
    client: httpx.Client, channel: str, body: dict[str, Any], word: str
) -> None:
    answer = define(client, channel, **{"name": "job", **body})

    assert answer.status_code == 400
    assert word in answer.json()["detail"]
    assert jobs_of(client, channel) == []


def test_of_two_servers_that_define_a_name_at_once_one_does(
    client: httpx.Client, channels: Channels, channel: str
) -> None:
    with served(channels.place.settings) as url, httpx.Client(base_url=url, timeout=60) as other:
        start, answers = threading.Barrier(2), list[tuple[int, str]]()

        def race(asking: httpx.Client, data: str) -> None:
            start.wait()
            answers.append((define(asking, channel, data=data).status_code, data))

        pairs = [(client, "one"), (other, "two")]
        threads = [threading.Thread(target=race, args=pair) for pair in pairs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert sorted(code for code, _ in answers) == [201, 409]
        winner = next(data for code, data in answers if code == 201)
        for asking in (client, other):
            assert [job["data"] for job in jobs_of(asking, channel)] == [winner]
    wait_for(lambda: len(schedule_of(channels.place, channel)) == 1, "its schedule to be there")
