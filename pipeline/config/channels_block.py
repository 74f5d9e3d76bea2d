"""The block of the configuration for channels: events that programs fetch by HTTP."""

from typing import Annotated

from pydantic import AfterValidator, Field

from pipeline.config.topics import checked_topic
from state.clock import DAY, SECOND
from state.duration import Duration
from state.settings import Block


class ChannelSettings(Block):
    """Channels: events that programs post, lock and delete by HTTP, and jobs that repeat."""

    port: int | None = Field(
        None, ge=0, le=65535, description="the port that serves channels; 0: any; null: none"
    )
    open: bool = Field(False, description="whether it asks nobody who they are")
    topic: Annotated[str, AfterValidator(checked_topic)] = Field(
        "duestream.channels",
        description="where events go when they are due; on outputs.allow. With .log and .jobs "
        "behind its name: the topics of what was done to them, and of jobs",
    )
    max_ttl: Duration = Field(
        7 * DAY, ge=SECOND, description="the longest time an event may live or be locked"
    )
    max_events: int = Field(
        100_000, ge=1, description="while so many events are there no new ones are taken"
    )

    @property
    def log_topic(self) -> str:
        """Holds what callers did: events for now, locks, unlocks and deletes, in one order."""
        return f"{self.topic}.log"

    @property
    def jobs_topic(self) -> str:
        """Holds the jobs."""
        return f"{self.topic}.jobs"
