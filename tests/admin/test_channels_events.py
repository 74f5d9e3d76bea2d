"""Events of channels: posted, listed, locked, unlocked, deleted; now or at an instant."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import httpx
import pytest

from tests.admin.channel_office import Channels, events_of, instant, lock, posted, served
from tests.integration.running import in_seconds, wait_for

FAR = timedelta(hours=1)


@pytest.fixture
def client(channels: Channels) -> Iterator[httpx.Client]:
    with channels.ask() as asking:
        yield asking


@pytest.fixture
def channel() -> str:
    return f"channel-{uuid4().hex}"


def test_an_event_is_there_as_soon_as_it_is_posted(client: httpx.Client, channel: str) -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    event = posted(client, channel, data="héllo")

    assert events_of(client, channel) == [event]
    assert event["data"] == "héllo"
    assert event["isLocked"] is False
    assert before <= instant(event["publishedAt"]) <= datetime.now(UTC)
    lives = instant(event["livesUntil"]) - instant(event["publishedAt"])
    assert lives == timedelta(minutes=10)


def test_an_empty_channel_has_no_events(client: httpx.Client, channel: str) -> None:
    assert events_of(client, channel) == []


def test_channels_are_apart(client: httpx.Client, channel: str) -> None:
    event = posted(client, channel)

    assert events_of(client, f"{channel}-other") == []
    assert client.delete(f"/{channel}-other/events/{event['eventID']}").status_code == 404


def test_an_event_ends_by_itself(client: httpx.Client, channel: str) -> None:
    event = posted(client, channel, ttl="1.5s")
    assert events_of(client, channel) == [event]

    wait_for(lambda: events_of(client, channel) == [], "the event to end")
    assert datetime.now(UTC) >= instant(event["livesUntil"])
    assert lock(client, channel, event["eventID"]) == 410
    assert client.delete(f"/{channel}/events/{event['eventID']}").status_code == 404


def test_an_event_for_later_is_there_when_it_is_due(client: httpx.Client, channel: str) -> None:
    due = in_seconds(3).replace(microsecond=0)
    event = posted(client, channel, data="later", publishAt=due.isoformat(), ttl="1m")

    assert instant(event["publishedAt"]) == due
    assert instant(event["livesUntil"]) == due + timedelta(minutes=1)
    assert events_of(client, channel) == []

    wait_for(lambda: events_of(client, channel) != [], "the event to be published")
    [found] = events_of(client, channel)
    assert datetime.now(UTC) >= due
    assert (found["eventID"], found["data"]) == (event["eventID"], "later")
    assert instant(found["publishedAt"]) >= due
    lives = instant(found["livesUntil"]) - instant(found["publishedAt"])
    assert lives == timedelta(minutes=1)


def test_what_came_due_can_be_locked_and_deleted(client: httpx.Client, channel: str) -> None:
    event = posted(client, channel, publishAt=in_seconds(1).isoformat())
    wait_for(lambda: events_of(client, channel) != [], "the event to be published")

    assert lock(client, channel, event["eventID"]) == 202
    assert lock(client, channel, event["eventID"]) == 410
    assert client.delete(f"/{channel}/events/{event['eventID']}").status_code == 202
    assert events_of(client, channel) == []


def test_an_instant_that_is_past_means_now(client: httpx.Client, channel: str) -> None:
    event = posted(client, channel, publishAt="2020-01-01T00:00:00+02:00")

    assert events_of(client, channel) == [event]


def test_an_event_that_waits_can_be_withdrawn(
    client: httpx.Client, channels: Channels, channel: str
) -> None:
    event = posted(client, channel, publishAt=in_seconds(3600).isoformat())["eventID"]
    wait_for(lambda: channels.place.statuses_of(event) == ["pending"], "the job to take it")

    assert client.delete(f"/{channel}/events/{event}").status_code == 202
    assert client.delete(f"/{channel}/events/{event}").status_code == 404
    wait_for(lambda: channels.place.statuses_of(event) == ["cancelled"], "the job to cancel it")


def test_a_locked_event_is_shown_as_such(client: httpx.Client, channel: str) -> None:
    event = posted(client, channel)["eventID"]

    assert lock(client, channel, event) == 202
    assert [each["isLocked"] for each in events_of(client, channel)] == [True]


def test_only_one_has_the_lock_until_it_is_given_back(client: httpx.Client, channel: str) -> None:
    event = posted(client, channel)["eventID"]
    path = f"/{channel}/events/{event}"

    assert lock(client, channel, event) == 202
    assert lock(client, channel, event) == 410
    assert client.patch(path, json={"action": "UNLOCK"}).status_code == 202
    assert [each["isLocked"] for each in events_of(client, channel)] == [False]
    assert lock(client, channel, event) == 202


def test_unlocking_what_is_not_locked_changes_nothing(client: httpx.Client, channel: str) -> None:
    event = posted(client, channel)["eventID"]
    path = f"/{channel}/events/{event}"

    assert client.patch(path, json={"action": "UNLOCK"}).status_code == 202
    assert [each["isLocked"] for each in events_of(client, channel)] == [False]


def test_a_lock_ends_by_itself(client: httpx.Client, channel: str) -> None:
    event = posted(client, channel)["eventID"]
    assert lock(client, channel, event, ttl="1s") == 202
    assert lock(client, channel, event) == 410

    wait_for(lambda: not events_of(client, channel)[0]["isLocked"], "the lock to end")
    assert lock(client, channel, event) == 202


def test_what_is_not_there_cannot_be_locked_unlocked_or_deleted(
    client: httpx.Client, channel: str
) -> None:
    path = f"/{channel}/events/nothing"

    assert client.patch(path, json={"action": "LOCK"}).status_code == 410
    assert client.patch(path, json={"action": "UNLOCK"}).status_code == 410
    assert client.delete(path).status_code == 404


def test_a_deleted_event_is_gone_for_all(client: httpx.Client, channel: str) -> None:
    event = posted(client, channel)["eventID"]
    assert lock(client, channel, event) == 202

    assert client.delete(f"/{channel}/events/{event}").status_code == 202
    assert events_of(client, channel) == []
    assert lock(client, channel, event) == 410
    assert client.delete(f"/{channel}/events/{event}").status_code == 404


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({}, "data"),
        ({"data": 7}, "data"),
        ({"data": "d", "publishAt": "tomorrow"}, "publishAt"),
        ({"data": "d", "publishAt": 7}, "publishAt"),
        ({"data": "d", "publishAt": "+1h"}, "publishAt"),
        ({"data": "d", "publishAt": "2030-01-01T00:00:00"}, "publishAt"),
        ({"data": "d", "publishAt": "9999-01-01T00:00:00Z"}, "100 years"),
        ({"data": "d", "ttl": "soon"}, "ttl"),
        ({"data": "d", "ttl": 10}, "ttl"),
        ({"data": "d", "ttl": "0s"}, "ttl"),
        ({"data": "d", "ttl": "-1m"}, "ttl"),
        ({"data": "d", "ttl": "169h"}, "max_ttl"),
        ({"data": "x" * 1_000_000}, "max_payload_bytes"),
        ([], "object"),
    ],
)
def test_an_event_that_is_wrong_is_refused_by_its_field(
    client: httpx.Client, channel: str, body: object, word: str
) -> None:
    answer = client.post(f"/{channel}/events/", json=body)

    assert answer.status_code == 400
    assert word in answer.json()["detail"]
    assert events_of(client, channel) == []


@pytest.mark.parametrize("body", [b"", b"{", b'"x"', b"\xff", b'{"data":"\\ud800"}'])
def test_a_body_that_is_no_object_is_refused(
    client: httpx.Client, channel: str, body: bytes
) -> None:
    assert client.post(f"/{channel}/events/", content=body).status_code == 400


@pytest.mark.parametrize("body", [{}, {"action": "KEEP"}, {"action": "LOCK", "ttl": "x"}, []])
def test_an_action_that_is_not_known_is_refused(
    client: httpx.Client, channel: str, body: object
) -> None:
    event = posted(client, channel)["eventID"]

    assert client.patch(f"/{channel}/events/{event}", json=body).status_code == 400


def test_a_channel_may_have_any_printable_name(client: httpx.Client) -> None:
    name = f"señal 7 {uuid4().hex}"
    later = posted(client, name, publishAt=in_seconds(1).isoformat())["eventID"]
    now = posted(client, name)["eventID"]

    wait_for(lambda: len(events_of(client, name)) == 2, "both to be there")
    assert {each["eventID"] for each in events_of(client, name)} == {now, later}
    assert client.get("/%00/events/").status_code == 400


@pytest.mark.parametrize("ttl", ["1h30m10s", "1.5h", ".5h", "1.h", "250ms", "1us", "+10m"])
def test_durations_are_those_of_go(client: httpx.Client, channel: str, ttl: str) -> None:
    assert client.post(f"/{channel}/events/", json={"data": "d", "ttl": ttl}).status_code == 201


def test_two_servers_that_race_for_a_lock_let_exactly_one_have_it(
    client: httpx.Client, channels: Channels, channel: str
) -> None:
    with served(channels.place.settings) as url, httpx.Client(base_url=url, timeout=60) as other:
        for _ in range(10):
            event = posted(client, channel)["eventID"]
            start, answers = threading.Barrier(4), list[int]()

            def race(
                asking: httpx.Client,
                event: str = event,
                start: threading.Barrier = start,
                answers: list[int] = answers,
            ) -> None:
                start.wait()
                answers.append(lock(asking, channel, event))

            threads = [threading.Thread(target=race, args=[c]) for c in [client, other] * 2]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert sorted(answers) == [202, 410, 410, 410]


def test_what_one_server_wrote_another_shows_at_once(
    client: httpx.Client, channels: Channels, channel: str
) -> None:
    with served(channels.place.settings) as url, httpx.Client(base_url=url, timeout=60) as other:
        for _ in range(5):
            event = posted(client, channel)
            assert event in events_of(other, channel)
            assert lock(client, channel, event["eventID"]) == 202
            assert lock(other, channel, event["eventID"]) == 410
            assert other.delete(f"/{channel}/events/{event['eventID']}").status_code == 202
            assert events_of(client, channel) == []
