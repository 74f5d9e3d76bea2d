"""What requests to the API say in their bodies, besides events."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from pipeline.admin.api.fields import KeyText, Remark, Topic, When

Text = Annotated[str, StringConstraints(min_length=1, max_length=60)]


class Body(BaseModel):
    """An object without names that nobody knows."""

    model_config = ConfigDict(extra="forbid")


class Remarks(Body):
    """Why something is done."""

    reason: Remark | None = None


class NewInstant(Remarks):
    """When a message is to go out instead; one of both."""

    deliverat: Text | None = Field(None, description="an RFC 3339 instant with an offset")
    delayby: Text | None = Field(None, description="from now on: PT15M, 90s, 1h30m")


class Hold(Remarks):
    """What is to be held back or let go."""

    scope: Literal["key", "topic", "all"]
    key: KeyText | None = Field(None, description="of the scope key")
    topic: Topic | None = Field(None, description="of the scope topic: the output topic")


class Where(Body):
    """Which pending messages; all that is given must hold, and something must be."""

    topic: Topic | None = Field(None, description="the output topic")
    source: Topic | None = Field(None, description="the input topic")
    key_prefix: KeyText | None = None
    due_from: When | None = None
    due_to: When | None = None
    headers: dict[Annotated[str, StringConstraints(max_length=200)], str] = Field(
        default_factory=dict, max_length=20
    )
    keys: list[KeyText] = Field(default_factory=list, max_length=500)


class BulkOrder(NewInstant):
    """One command about many keys."""

    action: Literal["cancel", "reschedule", "dispatch", "pause", "resume"]
    where: Where
    dry_run: bool = Field(True, description="only tell how many it would be about")
    expect: int | None = Field(None, ge=0, description="refuse (409) if it is another number")


class DeadWhere(Body):
    """Which dead letters; all that is given must hold."""

    reason: Annotated[str, StringConstraints(max_length=100)] | None = None
    topic: Topic | None = Field(None, description="the output topic; of refused records: from it")
    key: KeyText | None = None
    since: When | None = None
    all: bool = Field(False, description="whether really all are meant if nothing else is given")


class Resubmission(Body):
    """What is to be sent again."""

    where: DeadWhere
    dry_run: bool = Field(True, description="only tell how many it would be")
    force: bool = Field(False, description="also where a newer version of the key is known")
