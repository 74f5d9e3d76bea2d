"""What the API answers with when it counts."""

from pydantic import BaseModel, ConfigDict, Field

from pipeline.admin.api.answers import Command, Message
from pipeline.admin.api.fields import Instant, Key


class Pauses(BaseModel):
    """What holds back more than a key."""

    everything: bool
    topics: list[str]


class Stats(BaseModel):
    """The state at a glance."""

    accepted: int
    ends: dict[str, int] = Field(description="where each of them is now, by status")
    difference: int = Field(description="what is missing in the ends; 0")
    rejected: int
    late_cancels: int
    missed: int
    last_batch: int
    next_due: Instant | None
    oldest_overdue: Instant | None
    pending_by_topic: dict[str, int]
    paused: int
    pauses: Pauses
    as_of: Instant | None = Field(description="the time of the batch; null where it is not kept")


class Step(BaseModel):
    """What falls due in a step, for one output topic."""

    time: Instant
    topic: str
    waiting: int = Field(description="messages that are there already")
    repeats: int = Field(description="occurrences that repeating ones will make")


class Forecast(BaseModel):
    """What falls due when."""

    model_config = ConfigDict(populate_by_name=True)

    since: Instant = Field(alias="from")
    until: Instant = Field(alias="to")
    step: str
    overdue: int
    steps: list[Step] = Field(description="those in which anything is due")


class UpTo(BaseModel):
    """How many messages were late by more than the step before and up to this one."""

    up_to_ms: float | None = Field(description="null: more than that")
    messages: int


class Lateness(BaseModel):
    """How late messages went out; shares are right to one per cent."""

    since: Instant
    count: int
    early: int = Field(description="out before their instant: 0")
    max_ms: float
    p50_ms: float
    p90_ms: float
    p99_ms: float
    p999_ms: float
    distribution: list[UpTo]


class Topic(BaseModel):
    """An output topic that something waits for, or that is paused."""

    topic: str
    pending: int
    held_back: int
    paused: bool
    first_due: Instant | None
    last_due: Instant | None


class TopicList(BaseModel):
    """The output topics."""

    topics: list[Topic]


class Dispatch(Pauses):
    """What is paused."""

    held_back: int = Field(description="messages that wait because of it, or are paused alone")


class Given(Command):
    """A command with the record that gave it."""

    source: str
    version: str


class CommandPage(BaseModel):
    """A page of commands."""

    commands: list[Given]
    next: str | None


class DeadLetter(Message):
    """A message that Kafka refused for good, or a record that was not admitted."""

    id: str = Field(description="names it in this API")


class EditableLetter(DeadLetter):
    """One of them, with the event that made it."""

    event: str | None = Field(
        description="as JSON text, to be mended and sent again; null if payloads are hidden"
    )


class DeadLetterPage(BaseModel):
    """A page of dead letters, the newest first."""

    dead_letters: list[DeadLetter]
    next: str | None


class ReasonCount(BaseModel):
    """How much died of a reason."""

    reason: str
    kind: str
    topic: str
    count: int
    first: Instant
    last: Instant


class ReasonList(BaseModel):
    """What is dead, by reason."""

    reasons: list[ReasonCount]


class Resubmitted(BaseModel):
    """What is, or would be, sent again."""

    dry_run: bool
    count: int
    skipped: int = Field(description="because a newer version of the key is known; force sends it")
    more: bool = Field(description="whether others match, beyond what goes at once")
    first: list[Key]


class BulkDone(BaseModel):
    """How many a bulk order is about."""

    action: str
    dry_run: bool
    count: int
    first: list[Key]
