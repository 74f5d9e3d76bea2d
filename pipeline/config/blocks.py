"""The blocks of the configuration that say what flows from where to where, and how."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from pipeline.config.kafka_block import Options
from pipeline.config.topics import checked_pattern, checked_topic
from state.clock import SECOND
from state.duration import Duration
from state.settings import Block

MILLISECOND = SECOND // 1_000

Topic = Annotated[str, AfterValidator(checked_topic)]
Pattern = Annotated[str, AfterValidator(checked_pattern)]
Dialect = Literal["cloudevents", "cloudevents-mongo", "kms-avro", "kms-json", "etf1", "karafka"]


class SourceSettings(Block):
    """One topic that schedules are read from."""

    topic: Topic = Field(description="the topic to read")
    dialect: Dialect = Field("cloudevents", description="the format of its records")
    output_topic: Topic | None = Field(
        None, description="where its messages go; for cloudevents-mongo, whose events do not say it"
    )
    namespace: Topic | None = Field(
        None, description="topics with the same one share their keys; null: the topic's own keys"
    )
    drop_in: bool = Field(
        False, description="mark what is sent on the topic, as the dialect's scheduler does"
    )
    history_topic: Topic | None = Field(
        None, description="where what is sent is kept besides; for etf1, with drop_in"
    )


class ShapeSettings(Block):
    """How the messages of an output topic look; the first name or pattern that matches counts."""

    add: dict[Annotated[str, Field(min_length=1)], str] = Field(
        default_factory=dict, description="headers that each message gets, in place of its own"
    )
    strip: list[str] = Field(
        default_factory=list, description="names of headers that no message keeps"
    )
    envelope: Literal["raw", "binary", "structured"] = Field(
        "raw", description="binary, structured: each message as a CloudEvent in that mode"
    )
    fire_id_header: bool | None = Field(
        None, description="whether the fire id is added; null: as publish.fire_id_header says"
    )


class OutputSettings(Block):
    """Which topics schedules may publish to, and what goes there."""

    allow: list[Pattern] = Field(
        default_factory=list,
        description="topic names, or patterns with * and ?; the job refuses to start with none",
    )
    backlog_rate: dict[Topic, Annotated[float, Field(gt=0)]] = Field(
        default_factory=dict,
        description="for a topic, how many messages a second go out that are long overdue",
    )
    late_topic: Topic | None = Field(
        None, description="where messages go that have expired; null: nowhere"
    )
    shape: dict[Pattern, ShapeSettings] = Field(
        default_factory=dict,
        description="by topic name or pattern with * and ?: headers and envelope of its messages",
    )


class DeadLetterSettings(Block):
    """Where records go that cannot be accepted or published."""

    topic: Topic = Field("duestream.dead-letters", description="topic of the dead letters")


class InternalSettings(Block):
    """The topic the job keeps for itself."""

    topic: Topic | None = Field(
        None, description="null: duestream.NAME.internal, with the job's name"
    )
    replication_factor: int | None = Field(
        None,
        ge=1,
        description="copies kept of it when the job creates it; null: as the broker does",
    )


class PipelineSettings(Block):
    """How the stream runs."""

    checkpoint: str | None = Field(
        None, description="folder or URI for Spark's checkpoint; must be durable"
    )
    trigger_interval: Duration = Field(
        SECOND, ge=0, description="time from one micro-batch to the next"
    )
    max_offsets_per_trigger: int = Field(
        100_000, ge=1, description="records taken in one micro-batch at most"
    )
    decode_tasks: int = Field(
        2, ge=1, description="records are decoded in this many tasks; raise it on a cluster"
    )
    starting_offsets: Literal["earliest", "latest"] = Field(
        "earliest", description="where a new job begins to read"
    )


class PublishSettings(Block):
    """How due messages are published."""

    guarantee: Literal["exactly_once", "at_least_once"] = Field(
        "exactly_once", description="at_least_once: for brokers without transactions"
    )
    lanes: int = Field(
        2, ge=1, le=64, description="producers side by side; order is kept within a lane"
    )
    lookahead_min: Duration = Field(
        4 * SECOND, description="claim at least this far ahead of the due instant"
    )
    lookahead_max: Duration = Field(
        30 * SECOND, description="... and at most this far, when batches or claims take long"
    )
    flush_interval: Duration = Field(
        10 * MILLISECOND,
        ge=MILLISECOND,
        description="a lane's rest after a transaction; up to four times that after large ones",
    )
    claim_limit: int = Field(
        200_000, ge=1, description="messages claimed in one micro-batch at most"
    )
    outbox_limit: int = Field(
        200_000, ge=1, description="messages held in memory for their instant at most"
    )
    executors_above: int | None = Field(
        50_000,
        ge=0,
        description="where more is overdue, executors publish it (on one machine only with two "
        "cores a lane); null: the driver alone",
    )
    watch_input: bool = Field(
        True, description="hold a message while a newer record of its key waits to be read"
    )
    hold_limit: Duration = Field(
        5 * SECOND, ge=0, description="... for so long at most after it is due"
    )
    transaction_timeout: Duration = Field(
        60 * SECOND, ge=SECOND, description="the broker aborts a transaction open for longer"
    )
    fire_id_header: bool = Field(
        False, description="add the fire id to each message; at_least_once always adds it"
    )
    late_after: Duration | None = Field(
        10 * SECOND,
        ge=0,
        description="a message that goes out later than this is marked as late; null: none is",
    )


class RetrySettings(Block):
    """What is done with a message that Kafka refuses: its topic is missing, it is too large, ..."""

    max_attempts: int = Field(
        10, ge=1, description="attempts before it is a dead letter; 1: no second one"
    )
    max_age: Duration = Field(
        3600 * SECOND, ge=0, description="no attempt later than this after the first"
    )
    first_delay: Duration = Field(
        SECOND, ge=MILLISECOND, description="time to the second attempt; it doubles with each"
    )
    longest_delay: Duration = Field(
        300 * SECOND, ge=MILLISECOND, description="... and grows no further than this"
    )
    jitter: float = Field(
        0.2,
        ge=0,
        lt=1,
        description="the share by which delays vary, so that not all come at once",
    )


class ScheduleSettings(Block):
    """What schedules may ask for."""

    endless_repeats: bool = Field(
        False, description="whether a repeat may have no end: no count, no last instant, no span"
    )
    miss_after: Duration = Field(
        30 * SECOND, ge=0, description="an occurrence not sent for so long counts as missed"
    )


class WithdrawSettings(Block):
    """A topic whose records withdraw what is pending: an order that is paid, its reminder."""

    topic: Topic = Field(description="the topic to watch")
    source: Topic = Field(description="the source topic whose schedules are withdrawn")
    key: str | None = Field(
        None,
        description="JSON path of the schedule's key in the record's value; null: the record's key",
    )
    where: dict[str, str] = Field(
        default_factory=dict,
        description="JSON paths and the values that a record must have there to count",
    )


class LimitSettings(Block):
    """What is too large to be accepted."""

    max_payload_bytes: int = Field(1_000_000, ge=1, description="largest payload")
    max_key_bytes: int = Field(65_536, ge=1, description="largest key")


class SparkSettings(Block):
    """The Spark session, where the job starts one of its own."""

    master: str | None = Field(None, description="null: what spark-submit says, else local[*]")
    options: Options = Field(default_factory=dict, description="passed to the session's builder")
