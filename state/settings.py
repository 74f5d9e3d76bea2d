"""The settings of the state store: the block ``state`` of the configuration."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from state.clock import DAY, MINUTE, SECOND
from state.duration import Duration

# A document of MongoDB has 16 MiB at most; what else a row says fits the rest.
_LARGEST_DOCUMENT = 16 * 1024 * 1024 - 64 * 1024


class Block(BaseModel):
    """A block of settings: unknown names are refused, values cannot change later."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class DeltaSettings(Block):
    """Where the Delta tables are and how they are kept."""

    path: str | None = Field(
        None, description="folder or URI that holds the tables changelog, schedules and history"
    )
    catalog_schema: str | None = Field(
        None,
        pattern=r"^[\w-]+(\.[\w-]+)?$",
        description="schema of Spark's catalog in which the tables have names too; readers in a "
        "Spark session find them by these where no path is set",
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


class MongoSettings(Block):
    """Which MongoDB holds the state, and how it is reached and written."""

    uri: SecretStr | None = Field(
        None, description="where the server is, such as mongodb://host:27017; may hold options"
    )
    database: str = Field(
        "duestream", min_length=1, description="the database; one job has it for itself"
    )
    username: str | None = Field(None, description="who the job is, if the URI does not say")
    password: SecretStr | None = Field(None, description="and its password")
    auth_source: str | None = Field(None, description="the database that knows the user")
    replica_set: str | None = Field(None, description="the name of the replica set, if it is one")
    tls: bool | None = Field(None, description="whether to speak TLS; the URI decides if not set")
    tls_ca_file: str | None = Field(None, description="the certificates to trust, PEM")
    tls_certificate_key_file: str | None = Field(
        None, description="the job's own certificate and key, PEM"
    )
    write_concern: Literal["majority"] | int = Field(
        "majority", description="how many nodes must have a write; less than majority may lose it"
    )
    journal: bool = Field(True, description="whether a write must be on disk to count")
    read_concern: Literal["majority", "local"] = Field(
        "majority", description="majority: reads only what cannot be rolled back"
    )
    timeout: Duration = Field(
        10 * SECOND, description="how long one call may take before it is tried again"
    )
    batch_rows: int = Field(
        1_000, ge=1, le=100_000, description="how many documents one bulk write changes at most"
    )
    writer: Literal["driver", "spark"] = Field(
        "driver", description="who sends the bulk writes: the driver, or Spark's executors"
    )


class StateSettings(Block):
    """Which store keeps the schedules, and for how long it remembers closed ones."""

    kind: Literal["delta", "mongo", "memory"] = Field(
        "delta",
        description="delta: tables on a disk or object store; mongo: a MongoDB; memory: gone when "
        "the job ends, for trying things out",
    )
    keep_closed: Duration = Field(
        7 * DAY, description="how long done, cancelled, replaced, expired and dead rows are kept"
    )
    delta: DeltaSettings = DeltaSettings()
    mongo: MongoSettings = MongoSettings()

    @property
    def largest_row(self) -> int | None:
        """How many bytes of message, key and headers one row may have; None: as many as come."""
        return _LARGEST_DOCUMENT if self.kind == "mongo" else None
