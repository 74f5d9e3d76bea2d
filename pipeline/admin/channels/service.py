"""What can be done with channels, whoever asks."""

import time
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from pipeline.admin.channels.asked import AskedEvent, AskedJob, refuse
from pipeline.admin.channels.board import Event, Name
from pipeline.admin.channels.follower import Follower, Take
from pipeline.admin.channels.job_table import Job
from pipeline.admin.channels.jobs import Jobs
from pipeline.admin.channels.mending import Mending
from pipeline.admin.channels.room import Room
from pipeline.admin.channels.topics import prepare
from pipeline.admin.channels.writing import Writing
from pipeline.admin.channels.written import Deed, Entry, due_payload
from pipeline.admin.desk import Desk
from pipeline.admin.problems import Problem
from pipeline.clock import now_micros
from state import row

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MEND_EVERY = 5.0  # seconds
_AROUND = 2_048  # bytes that are written around the data of an event, at most
_HOUR = 3_600 * 1_000_000
_MICROS_A_MILLI = 1_000


class Channels:
    """Events, locks and jobs of all channels; many threads may use it.

    Everything is a record on Kafka before it is answered, and memory is only what was read back
    from there: a process that starts, or another one beside it, comes to the same.
    """

    def __init__(self, desk: Desk) -> None:
        settings = desk.settings
        self._desk = desk
        self._channels = settings.admin.channels
        self._source = desk.sending.source(None)
        prepare(settings)
        self._room = Room()
        self._follower = Follower(settings.kafka, *self._topics())
        self._writing = Writing(settings, self._room)
        self._client = desk.sending.client(self._source)
        self._jobs = Jobs(self._channels, self._room, self._writing, self._client)
        self._mended = False
        self._mending = Mending(self._mend, _MEND_EVERY)

    def close(self) -> None:
        """Let go of everything."""
        self._mending.close()
        self._follower.close()
        self._writing.close()
        self._desk.close()

    def post(self, channel: str, asked: AskedEvent) -> Event:
        """Publish an event: now, in the log, or at its instant by a schedule."""
        self._check_room(asked.data)
        self._follower.require_caught_up()
        name, now = Name(channel, str(uuid4())), now_micros()
        if asked.at is not None and asked.at > now:
            return self._schedule(name, asked, asked.at)
        self._writing.entry(Entry(Deed.PUBLISH, *name, ttl=asked.ttl, data=asked.data))
        event = self._room.look(lambda board, _: board.event(name, now))
        return event or Event(name, asked.data, now, now + asked.ttl)  # over already

    def events(self, channel: str) -> list[tuple[Event, bool]]:
        """Return what is on a channel, and whether it is locked."""
        self._follow_up()
        return self._room.look(lambda board, _: board.events(channel, now_micros()))

    def act(self, deed: Deed, name: Name, ttl: int) -> bool:
        """Lock or unlock an event; False if it is locked by somebody, or not there."""
        event = self._find(name)
        if event is None:
            return False
        return self._writing.entry(Entry(deed, *name, ttl=ttl, until=event.until))

    def delete(self, name: Name, actor: str) -> bool:
        """Delete an event, or withdraw one that is not published yet; False if it is not there."""
        event = self._find(name)
        until = self._withdrawn(name, actor) if event is None else event.until
        return until is not None and self._writing.entry(Entry(Deed.DELETE, *name, until=until))

    def define(self, channel: str, asked: AskedJob) -> Job:
        """Define a job."""
        self._check_room(asked.data)
        self._follow_up()
        return self._jobs.define(channel, asked)

    def jobs(self, channel: str) -> list[Job]:
        """Return the jobs of a channel."""
        self._follow_up(self._channels.jobs_topic)
        return self._room.look(lambda _, jobs: jobs.of(channel))

    def end_job(self, channel: str, name: str, actor: str) -> bool:
        """End a job; False if there is none of this name."""
        self._follow_up(self._channels.jobs_topic)
        return self._jobs.end(channel, name, actor)

    def _schedule(self, name: Name, asked: AskedEvent, at: int) -> Event:
        payload = due_payload(name.channel, asked.ttl, asked.data, event=name.event)
        when = _EPOCH + timedelta(microseconds=at)
        topic = self._channels.topic
        self._client.schedule(payload, topic=topic, key=name.event, at=when, output_key=name[0])
        return Event(name, asked.data, at, at + asked.ttl)

    def _find(self, name: Name) -> Event | None:
        """Return an event that is there; what another process has written counts."""
        self._follower.require_caught_up()
        found = self._room.look(lambda board, _: board.event(name, now_micros()))
        if found is None:
            self._follow_up()
            found = self._room.look(lambda board, _: board.event(name, now_micros()))
        return found

    def _withdrawn(self, name: Name, actor: str) -> int | None:
        """Cancel an event that waits for its instant; return when it would have ended at most."""
        versions = self._desk.looking.inspector().versions(name.event.encode(), self._source)
        for line in versions.to_pylist():
            ours = line[row.OUTPUT_TOPIC] == self._channels.topic
            of_channel = line[row.OUTPUT_KEY] == name.channel.encode()
            if ours and of_channel and line[row.STATUS] in row.LIVE:
                self._client.cancel(name.event, reason="the event was deleted", actor=actor)
                return int(line[row.SCHEDULED]) + self._channels.max_ttl
        return None

    def _check_room(self, data: str) -> None:
        most = self._desk.settings.limits.max_payload_bytes - _AROUND
        if len(due_payload("", 0, data)) > most:
            refuse(f"data: has more than {most} bytes as JSON text (limits.max_payload_bytes)")
        if self._room.look(lambda board, _: board.size) >= self._channels.max_events:
            raise Problem(
                503,
                "too_many_events",
                f"{self._channels.max_events} events are there (admin.channels.max_events); delete "
                "some, or wait for their end",
                headers={"Retry-After": "2"},
            )

    def _follow_up(self, topic: str | None = None) -> None:
        self._follower.require_caught_up()
        self._follower.follow_up(topic or self._channels.log_topic)

    def _mend(self) -> None:
        self._follow_up(self._channels.jobs_topic)
        self._room.look(lambda board, _: board.forget(now_micros()))
        self._jobs.mend(all_of_them=not self._mended)
        self._mended = True

    def _topics(self) -> tuple[dict[str, Take], dict[str, int]]:
        channels, room = self._channels, self._room
        since = time.time_ns() // 1_000_000 - (channels.max_ttl + _HOUR) // _MICROS_A_MILLI
        takes: dict[str, Take] = {
            channels.jobs_topic: room.take_job,
            channels.log_topic: room.take_entry,
            channels.topic: room.take_due,
        }
        return takes, dict.fromkeys((channels.log_topic, channels.topic), since)
