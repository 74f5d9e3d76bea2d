"""Jobs of channels: each is a schedule that repeats, and publishes an event each time."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from pipeline.admin.channels.asked import AskedJob, refuse
from pipeline.admin.channels.job_table import Job, Stage
from pipeline.admin.channels.room import Room
from pipeline.admin.channels.writing import Writing
from pipeline.admin.channels.written import due_payload
from pipeline.admin.problems import Problem
from pipeline.client import Client
from pipeline.clock import now_micros
from pipeline.config.channels_block import ChannelSettings
from pipeline.event import Record, Wish, schedule_record
from pipeline.terms import Repeat, SameKey, Terms
from pipeline.written import ScheduleError
from state.rules.cron_text import read_cron

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LEFT_ALONE = 30 * 1_000_000  # a step not taken for so long is not about to be


class Jobs:
    """Defines and ends jobs; the first definition of a name in the log counts."""

    def __init__(
        self, channels: ChannelSettings, room: Room, writing: Writing, client: Client
    ) -> None:
        self._channels = channels
        self._room = room
        self._writing = writing
        self._client = client

    def define(self, channel: str, asked: AskedJob) -> Job:
        """Define a job; a Problem if there is one of its name already."""
        parts = (str(uuid4()), channel, asked.name, asked.data, asked.cron, asked.ttl)
        job = Job(*parts, Stage.DEFINED, now_micros())
        self._schedule(job)  # what the job would refuse is refused before anything is written
        if not self._writing.job(job):
            self._writing.no_job(job.id)
            raise Problem(409, "job_exists", f"name: {channel} has a job {asked.name} already")
        self._arm(job)
        return job

    def end(self, channel: str, name: str, actor: str) -> bool:
        """End the job of a name; False if there is none."""
        job = self._room.look(lambda _, jobs: jobs.named(channel, name))
        if job is None or not self._writing.job(replace(job, stage=Stage.ENDING)):
            return False
        self._finish(job, actor)
        return True

    def mend(self, *, all_of_them: bool) -> None:
        """Take the steps that a process which is no more has left, and clear what is of no use."""
        before = now_micros() - (0 if all_of_them else _LEFT_ALONE)
        for job in self._room.look(lambda _, jobs: jobs.unfinished()):
            if job.since <= before and job.stage is Stage.ENDING:
                self._finish(job, None)
            elif job.since <= before:
                self._arm(job)
        for job_id in self._room.look(lambda _, jobs: list(jobs.needless)):
            self._writing.no_job(job_id)
        self._end_unknown()

    def _end_unknown(self) -> None:
        """Cancel schedules whose job is gone: somebody was late to arm one."""
        for job_id in self._room.heard_of():
            if not self._is_known(job_id):
                self._client.cancel(job_id, reason="its job is gone")

    def _is_known(self, job_id: str) -> bool:
        return self._room.look(lambda _, jobs: jobs.knows(job_id))

    def _arm(self, job: Job) -> None:
        record = self._schedule(job)
        self._client.forward(record.key, record.value, record.headers)
        self._writing.job(replace(job, stage=Stage.ARMED))

    def _finish(self, job: Job, actor: str | None) -> None:
        self._client.cancel(job.id, reason="the job was deleted", actor=actor)
        self._writing.no_job(job.id)

    def _schedule(self, job: Job) -> Record:
        """Return the schedule of a job; sent again it changes nothing, for the first one stands."""
        payload = due_payload(job.channel, job.ttl, job.data, job=job.id)
        try:
            every = read_cron(job.cron).every
            # An interval begins with its first end, as a clock set now.
            first = None if every is None else _EPOCH + timedelta(microseconds=job.since + every)
            terms = Terms(repeat=Repeat(cron=job.cron), same_key=SameKey(policy="keep"))
            wish = Wish(payload, self._channels.topic, first, output_key=job.channel, terms=terms)
            return schedule_record(job.id.encode(), wish)
        except (ScheduleError, ValueError, OverflowError) as error:
            refuse(f"cronDef: {error}")
