"""What the API answers with about messages and writes."""

from typing import Literal

from pydantic import BaseModel, Field

from pipeline.admin.api.fields import Instant, Key
from state.row import Status


class Problem(BaseModel):
    """Why a request cannot be answered as asked (RFC 9457)."""

    type: str = Field(description="a URI that names the reason")
    title: str
    status: int
    reason: str = Field(description="a code; where a dead letter has a reason for it, that one")
    detail: str = Field(description="what is wrong, and the way out")


class Header(BaseModel):
    """A header of a message; one of both values is set."""

    key: str
    value: str | None
    value_base64: str | None = Field(description="where it is no text")


class Receipt(BaseModel):
    """Where Kafka put a message, and when."""

    partition: int
    offset: int
    at: Instant | None
    late_ms: float | None = Field(description="after the instant asked for, or after the record")


class Repeat(BaseModel):
    """How a message repeats."""

    every: str | None
    cron: str | None
    tz: str | None
    until: Instant | None
    count: int | None
    on_miss: str


class Message(BaseModel):
    """One version of the schedule of a key: what one record on the input topic made."""

    key: Key
    source: str = Field(description="the input topic")
    partition: int
    offset: int
    version: str = Field(description="partition and offset of its record, such as 0-17")
    occurrence: int = Field(description="of a repeat: which one, from 0")
    kind: Literal["message", "rejection"] = Field(description="rejection: it was not admitted")
    status: Status
    topic: str | None = Field(description="where it goes, or went")
    output_key: Key | None = Field(description="null in lists, unless with payloads")
    output_partition: int | None
    due: Instant | None = Field(description="when it goes out next; null while it is paused")
    scheduled: Instant | None = Field(description="the instant that was asked for")
    paused: bool
    received_at: Instant | None = Field(description="the timestamp of its record")
    changed_at: Instant | None
    attempts: int = Field(description="how often Kafka refused it")
    attempted_at: list[Instant]
    reason: str | None = Field(description="why it ended so")
    detail: str | None
    receipt: Receipt | None
    repeat: Repeat | None
    expires: Instant | None
    on_same_id: str | None = Field(description="the policy, if it is another than replace")
    headers: list[Header] | None = Field(description="null in lists, unless with payloads")
    payload_bytes: int | None = Field(description="null in lists, unless with payloads")
    payload_hidden: bool = Field(description="admin.hide_payload is on")
    payload: str | None = Field(description="if it is text and was asked for")
    payload_base64: str | None = Field(description="if it is no text and was asked for")


class MessagePage(BaseModel):
    """A page of messages."""

    messages: list[Message]
    next: str | None = Field(description="the cursor of the next page, null at the end")


class Command(BaseModel):
    """A command that was given, and what came of it."""

    at: Instant | None
    command: str
    scope: str
    key: Key | None
    topic: str | None
    effect: str
    actor: str
    reason: str | None


class Single(BaseModel):
    """All that is known of a key, the newest first."""

    message: Message | None = Field(description="what is pending, or else the newest version")
    versions: list[Message] = Field(description="without payloads, unless asked for")
    commands: list[Command]
    more: bool = Field(description="whether there are older ones")


class Written(BaseModel):
    """A record that Kafka has, and what the job made of it if that was waited for."""

    key: Key | None = Field(description="null where it is about a topic, or everything")
    source: str
    partition: int
    offset: int
    version: str
    taken: bool = Field(description="whether the job has taken it, as far as was waited")
    effect: str | None = Field(
        description="of a schedule the status of its message, or why it was turned away; of a "
        "command what it came to (dispatch too is rescheduled); null while that is not known"
    )
    message: Message | None = Field(
        description="of a schedule that was taken; of a command about a key what is pending by "
        "then, or else the newest version"
    )
