"""How events, what was done to them, and jobs are written on Kafka, and read back."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from pipeline.admin.channels.board import Event, Name
from pipeline.admin.channels.job_table import Job, Stage

BY = "by"  # the header that names the attempt which wrote a record
_FIRE_ID = "duestream-fire-id"


class Deed(StrEnum):
    """What a caller did."""

    PUBLISH = "publish"
    LOCK = "lock"
    UNLOCK = "unlock"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Entry:
    """One record of the log; spans and instants are microseconds."""

    deed: Deed
    channel: str
    event: str
    ttl: int = 0  # of the event that is published, or of the lock
    data: str = ""  # of the event that is published
    until: int = 0  # when the event ends that something is done to

    @property
    def name(self) -> Name:
        """The event it is about."""
        return Name(self.channel, self.event)

    def to_json(self) -> bytes:
        """Write it as the value of a record."""
        return _json(asdict(self))

    @staticmethod
    def from_json(value: bytes) -> "Entry":
        """Read it; ValueError for anything else."""
        said = _object(value)
        try:
            return Entry(**{**said, "deed": Deed(said["deed"])})
        except (KeyError, TypeError) as error:
            raise ValueError(f"no entry: {error}") from error


def due_payload(channel: str, ttl: int, data: str, *, event: str = "", job: str = "") -> bytes:
    """Write what the job publishes on the channel topic; one of a repeating job has no id yet."""
    return _json({"channel": channel, "event": event, "job": job, "ttl": ttl, "data": data})


def read_due(value: bytes, headers: Mapping[str, bytes], at: int, place: str) -> tuple[Event, str]:
    """Read an event that came due at ``at``, and the job it is of, if any.

    The events of a repeating job are told apart by the fire id, which is the same if one is
    published twice, or by the place of the record.
    """
    said = _object(value)
    try:
        channel, job, ttl, data = said["channel"], said["job"], int(said["ttl"]), said["data"]
        fired = headers.get(_FIRE_ID, place.encode()).decode(errors="replace")
        event = said["event"] or str(uuid5(NAMESPACE_URL, f"duestream:{job}:{fired}"))
        return Event(Name(channel, event), data, at, at + ttl), job
    except (KeyError, TypeError) as error:
        raise ValueError(f"no event of a channel: {error}") from error


def job_json(job: Job) -> bytes:
    """Write a job as the value of a record; its id is the key."""
    said = asdict(job)
    return _json({name: said[name] for name in said if name not in ("id", "since")})


def read_job(job_id: str, value: bytes, at: int) -> Job:
    """Read a job; ValueError for anything else."""
    said = _object(value)
    try:
        return Job(**{**said, "id": job_id, "since": at, "stage": Stage(said["stage"])})
    except (KeyError, TypeError) as error:
        raise ValueError(f"no job: {error}") from error


def _json(said: Mapping[str, Any]) -> bytes:
    return json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode()


def _object(value: bytes) -> dict[str, Any]:
    said = json.loads(value)
    if not isinstance(said, dict):
        raise ValueError("no object")
    return said
