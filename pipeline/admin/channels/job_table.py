"""Which jobs there are: the first definition of a name counts until it is ended.

A job is defined, armed once its schedule is on its way, ending once somebody has deleted it, and
gone when its schedule is cancelled. A process that dies between two steps leaves a job in the step
before; whoever comes across it takes the next one.
"""

from dataclasses import dataclass
from enum import StrEnum

_REMEMBERED = 10_000  # jobs that are gone; who is late to arm one is not as late as that


class Stage(StrEnum):
    """How far a job has come."""

    DEFINED = "defined"
    ARMED = "armed"
    ENDING = "ending"


@dataclass(frozen=True, slots=True)
class Job:
    """A job: what it publishes on which channel, when, and how long each event lives."""

    id: str
    channel: str
    name: str
    data: str
    cron: str
    ttl: int  # microseconds
    stage: Stage
    since: int = 0  # when it came to this stage


class JobTable:
    """All jobs, as their records say in the order in which they were written."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._names: dict[tuple[str, str], str] = {}
        self._gone: dict[str, None] = {}
        self.needless: set[str] = set()  # whose records are of no use, and can be cleared

    def take(self, job: Job) -> bool:
        """Take a record of a job; False if it changes nothing."""
        if job.stage is Stage.DEFINED:
            return self._define(job)
        if job.stage is Stage.ARMED:
            return self._arm(job)
        return self._end(job)

    def remove(self, job_id: str) -> None:
        """Take the record that a job is gone."""
        job = self._jobs.pop(job_id, None)
        if job is not None:
            self._let_go(job)
        self._gone[job_id] = None
        if len(self._gone) > _REMEMBERED:
            del self._gone[next(iter(self._gone))]
        self.needless.discard(job_id)

    def named(self, channel: str, name: str) -> Job | None:
        """Return the job of a name, if there is one."""
        job_id = self._names.get((channel, name))
        return None if job_id is None else self._jobs[job_id]

    def of(self, channel: str) -> list[Job]:
        """Return the jobs of a channel by name."""
        found = (job for job in self._jobs.values() if job.channel == channel)
        return sorted((j for j in found if j.stage is not Stage.ENDING), key=lambda job: job.name)

    def unfinished(self) -> list[Job]:
        """Return those that wait for the next step."""
        return [job for job in self._jobs.values() if job.stage is not Stage.ARMED]

    def knows(self, job_id: str) -> bool:
        """Tell whether there is such a job, or one that is about to end."""
        return job_id in self._jobs

    def _define(self, job: Job) -> bool:
        if (job.channel, job.name) in self._names or job.id in self._gone:
            self.needless.add(job.id)
            return False
        self._hold(job)
        return True

    def _arm(self, job: Job) -> bool:
        known = self._jobs.get(job.id)
        if known is not None and known.stage is Stage.ENDING:
            return False
        if job.id in self._gone:  # armed by somebody who was very late
            self.needless.add(job.id)
            return False
        # Only what counted is armed: another of the name is one that lost to a definition which a
        # compaction has since removed.
        other = self.named(job.channel, job.name)
        if other is not None and other.id != job.id:
            del self._jobs[other.id]
            self.needless.add(other.id)
        self._hold(job)
        return True

    def _end(self, job: Job) -> bool:
        known = self._jobs.get(job.id)
        if known is None or known.stage is Stage.ENDING:
            if known is None and job.id not in self._gone:
                self._jobs[job.id] = job  # all that a compaction has left of it
            return False
        self._let_go(known)
        self._jobs[job.id] = job
        return True

    def _hold(self, job: Job) -> None:
        self._jobs[job.id] = job
        self._names[job.channel, job.name] = job.id

    def _let_go(self, job: Job) -> None:
        if self._names.get((job.channel, job.name)) == job.id:
            del self._names[job.channel, job.name]
