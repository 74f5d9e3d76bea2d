"""Writes records about channels, and waits until they are read back: the log decides."""

from concurrent.futures import Future
from concurrent.futures import TimeoutError as Waited
from datetime import timedelta
from uuid import uuid4

from pipeline.admin.channels.job_table import Job
from pipeline.admin.channels.room import Room
from pipeline.admin.channels.written import BY, Entry, job_json
from pipeline.client import Client
from pipeline.config.settings import Settings
from state.errors import KafkaError

_TIMEOUT = timedelta(seconds=10)


class Writing:
    """Has the producers of the log and of the jobs; many threads may use it.

    A call returns when all replicas in sync have the record and this process has read it back, so
    what was written before it by others is known by then.
    """

    def __init__(self, settings: Settings, room: Room) -> None:
        channels = settings.admin.channels
        self._room = room
        self._log = Client(settings, topic=channels.log_topic, timeout=_TIMEOUT)
        self._jobs = Client(settings, topic=channels.jobs_topic, timeout=_TIMEOUT)

    def entry(self, entry: Entry) -> bool:
        """Write what a caller does; return whether it took effect."""
        return self._written(self._log, entry.event, entry.to_json())

    def job(self, job: Job) -> bool:
        """Write a step of a job; return whether it took effect."""
        return self._written(self._jobs, job.id, job_json(job))

    def no_job(self, job_id: str) -> None:
        """Write that a job is gone."""
        self._written(self._jobs, job_id, None)

    def close(self) -> None:
        """Wait until Kafka has everything."""
        self._log.flush()
        self._jobs.flush()

    def _written(self, client: Client, key: str, value: bytes | None) -> bool:
        attempt = str(uuid4())
        outcome: Future[bool] = self._room.expect(attempt)
        try:
            client.forward(key.encode(), value, [(BY, attempt.encode())])
            return outcome.result(_TIMEOUT.total_seconds())
        except Waited as error:
            raise KafkaError("what was written cannot be read back in time; try again") from error
        finally:
            self._room.expect_no_more(attempt)
