"""A web process that is killed: events, locks and jobs are there when it is back."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from confluent_kafka import Producer

from pipeline.admin.channels.job_table import Job, Stage
from pipeline.admin.channels.written import job_json
from tests.admin.channel_office import Channels, Process, events_of, instant, lock, posted
from tests.admin.test_channels_jobs import define, jobs_of, schedule_of
from tests.integration.running import in_seconds, wait_for


@pytest.fixture
def process(channels: Channels, tmp_path: Path) -> Iterator[Process]:
    """A process that no test of others touches; its channels are the same."""
    own = Process(channels.place.settings, tmp_path)
    yield own
    own.kill()


@pytest.fixture
def channel() -> str:
    return f"channel-{uuid4().hex}"


def asking(url: str) -> httpx.Client:
    return httpx.Client(base_url=url, timeout=60)


def test_events_locks_and_deletes_outlive_a_kill(process: Process, channel: str) -> None:
    with asking(process.start()) as client:
        kept, locked, deleted = (posted(client, channel, data=d) for d in ("k", "l", "d"))
        assert lock(client, channel, locked["eventID"], ttl="1h") == 202
        assert client.delete(f"/{channel}/events/{deleted['eventID']}").status_code == 202
    process.kill()

    with asking(process.start()) as client:
        assert events_of(client, channel) == [kept, {**locked, "isLocked": True}]
        assert lock(client, channel, locked["eventID"]) == 410
        assert lock(client, channel, deleted["eventID"]) == 410
        path = f"/{channel}/events/{locked['eventID']}"
        assert client.patch(path, json={"action": "UNLOCK"}).status_code == 202
    process.kill()

    with asking(process.start()) as client:
        assert events_of(client, channel) == [kept, locked]
        assert lock(client, channel, locked["eventID"]) == 202
    assert process.stop() in (0, -15)


def test_what_comes_due_while_it_is_away_is_there_when_it_is_back(
    process: Process, channels: Channels, channel: str
) -> None:
    with asking(process.start()) as client:
        event = posted(client, channel, publishAt=in_seconds(2).isoformat(), data="later")
    process.kill()
    wait_for(lambda: channels.place.statuses_of(event["eventID"]) == ["done"], "it to be out")

    with asking(process.start()) as client:
        [found] = events_of(client, channel)
        assert (found["eventID"], found["data"]) == (event["eventID"], "later")
        lives = instant(found["livesUntil"]) - instant(found["publishedAt"])
        assert lives == timedelta(minutes=10)


def test_a_job_goes_on_through_a_kill(process: Process, channels: Channels, channel: str) -> None:
    with asking(process.start()) as client:
        assert define(client, channel, cronDef="@every 2s", ttl="5m").status_code == 201
        jobs = jobs_of(client, channel)
    process.kill()
    killed = datetime.now(UTC)

    def published_since() -> bool:
        with channels.ask() as other:
            times = [instant(event["publishedAt"]) for event in events_of(other, channel)]
        return sum(time > killed for time in times) >= 2

    wait_for(published_since, "two events after the kill")
    with asking(process.start()) as client, channels.ask() as other:
        assert jobs_of(client, channel) == jobs
        assert client.delete(f"/{channel}/jobs/job").status_code == 202
        seen = {event["eventID"] for event in events_of(client, channel)}
        assert seen <= {event["eventID"] for event in events_of(other, channel)}
    wait_for(lambda: schedule_of(channels.place, channel) == [], "its schedule to be cancelled")


@pytest.mark.parametrize("stage", [Stage.DEFINED, Stage.ENDING])
def test_a_step_that_a_killed_process_left_is_taken_by_the_next(
    process: Process, channels: Channels, channel: str, stage: Stage
) -> None:
    """Leave a job as a process does that is killed between the log and the input topic."""
    job_id = str(uuid4())
    if stage is Stage.ENDING:
        with channels.place.client() as client:
            client.schedule(
                b"{}",
                topic=channels.place.settings.admin.channels.topic,
                key=job_id,
                output_key=channel,
                at=in_seconds(3600),
            )
        wait_for(lambda: schedule_of(channels.place, channel) != [], "the job to take it")
    written(channels, Job(job_id, channel, "left", "tick", "@hourly", 60_000_000, stage))

    with asking(process.start()) as client:
        names = [job["name"] for job in jobs_of(client, channel)]
        assert names == (["left"] if stage is Stage.DEFINED else [])
        waiting = 1 if stage is Stage.DEFINED else 0
        wait_for(lambda: len(schedule_of(channels.place, channel)) == waiting, "the step")


def written(channels: Channels, job: Job) -> None:
    settings = channels.place.settings
    producer = Producer({"bootstrap.servers": settings.kafka.bootstrap_servers})
    producer.produce(settings.admin.channels.jobs_topic, job_json(job), job.id)
    assert producer.flush(30) == 0
