"""The settings of the state store: the block ``state`` of the configuration."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from state.duration import Duration

SECOND = 1_000_000
MINUTE = 60 * SECOND
DAY = 24 * 60 * MINUTE


class Block(BaseModel):
    """A block of settings: unknown names are refused, values cannot change later."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class DeltaSettings(Block):
    """Where the Delta tables are and how they are kept."""

    path: str | None = Field(
        None, description="folder or URI that holds the tables changelog, schedules and history"
    )
    writer: Literal["native", "spark"] = Field(
        "native", description="native: delta-rs, quickest; spark: for catalogs only Spark can write"
    )
    fold_rows: int = Field(
        200_000, ge=1, description="fold the changelog into schedules after this many lines"
    )
    fold_age: Duration = Field(
        5 * MINUTE, description="... and at the latest after this time, if it has any"
    )
    window: Duration = Field(
        MINUTE, description="how far ahead pending rows are held in memory, ready to be claimed"
    )
    window_rows: int = Field(500_000, ge=1, description="and at most this many of them")
    vacuum_age: Duration = Field(
        7 * DAY, description="how long files no longer in use stay, for time travel"
    )
    storage_options: dict[str, SecretStr] = Field(
        default_factory=dict, description="credentials and options of the object store"
    )


class StateSettings(Block):
    """Which store keeps the schedules, and for how long it remembers closed ones."""

    kind: Literal["delta", "memory"] = Field(
        "delta", description="delta: durable; memory: gone when the job ends, for trying things out"
    )
    keep_closed: Duration = Field(
        7 * DAY, description="how long done, cancelled, replaced, expired and dead rows are kept"
    )
    delta: DeltaSettings = DeltaSettings()
