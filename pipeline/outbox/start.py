"""Builds the outbox of a job from its settings and lets it take over what an earlier run left."""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaException

from pipeline.config.blocks import PublishSettings, ShapeSettings
from pipeline.config.kafka import librdkafka_options, librdkafka_producer_options
from pipeline.config.settings import Settings
from pipeline.observe.observer import SILENT, Observer
from pipeline.outbox.connection import Connection
from pipeline.outbox.deputies import Deputies
from pipeline.outbox.drop_in import DropIn, Replaced
from pipeline.outbox.envelope import MOST_GROWTH
from pipeline.outbox.errand import Means
from pipeline.outbox.item import Item
from pipeline.outbox.marks import Marks
from pipeline.outbox.outbox import Outbox
from pipeline.outbox.plain import PlainPublisher
from pipeline.outbox.records import Shape
from pipeline.outbox.recovery import begin_unmarked, recover
from pipeline.outbox.relay import Relay
from pipeline.outbox.report import Report
from pipeline.outbox.retry import RetryRules
from pipeline.outbox.shapes import OutputShapes, TopicShape
from pipeline.outbox.topics import Topics
from pipeline.outbox.transactional import TransactionalPublisher
from pipeline.outbox.turns import Turns
from pipeline.outbox.worker import Worker
from pipeline.quiet import quiet
from state.crashpoint import Point, reach
from state.errors import KafkaError
from state.store import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ROOM_FOR_HEADERS = 256 * 1024


def start_outbox(
    settings: Settings,
    store: Store,
    now: int,
    observer: Observer = SILENT,
    spark: "SparkSession | None" = None,
) -> tuple[Outbox, list[Item]]:
    """Return the running outbox, and the claims of an earlier run that turned out to be out.

    With a session of ``spark`` its executors publish what is overdue, when that is much.
    """
    publish = settings.publish
    exactly_once = publish.guarantee == "exactly_once"
    stopping = threading.Event()
    topics = Topics(quiet(librdkafka_options(settings.kafka)))
    means = means_of(settings, store.state_id)
    make = partial(
        partial(TransactionalPublisher, turn=Turns()) if exactly_once else PlainPublisher,
        connection=means.connection,
        shape=means.shape,
        topics=topics,
        retry=means.retry,
        stopping=stopping.is_set,
    )
    try:
        found = (
            recover(make, publish.lanes, store, now)
            if exactly_once
            else begin_unmarked(make, publish.lanes, store)
        )
    except KafkaException as error:
        raise KafkaError(
            f"Kafka does not let this job publish: {error.args[0].str()}; check that it may write "
            "transactions (Write on transactional ids that begin with duestream.: duestream acl "
            "show prints the commands), and that publish.transaction_timeout and "
            "kafka.producer_options are such as the brokers take; or set publish.guarantee: "
            "at_least_once"
        ) from error
    made = _relay(publish, found.publishers, means, observer, spark, stopping.is_set)
    outbox = Outbox(
        found.publishers,
        publish.flush_interval / 1_000_000,
        stopping,
        hold_limit=publish.hold_limit,
        observer=observer,
        relay=made if exactly_once else None,
    )
    outbox.begin(found.waiting, store.last_batch, found.watermarks)
    observer.began(outbox.standing, topics.reach)
    reach(Point.AFTER_RECOVERY)
    return outbox, found.out


def means_of(settings: Settings, state_id: str) -> Means:
    """Return what it takes to publish with these settings."""
    return Means(_connection(settings, state_id), _shape(settings, state_id), _retry(settings))


def _relay(
    publish: PublishSettings,
    publishers: list[Any],
    means: Means,
    observer: Observer,
    spark: "SparkSession | None",
    stopping: Callable[[], bool],
) -> Callable[[Sequence[Worker], Report], Relay] | None:
    if spark is None or publish.executors_above is None:
        return None
    deputies, above = Deputies(spark, means, stopping), publish.executors_above

    def made(workers: Sequence[Worker], report: Report) -> Relay:
        return Relay(workers, publishers, deputies, above, report, observer=observer)

    return made


def _connection(settings: Settings, state_id: str) -> Connection:
    limits = settings.limits
    largest = limits.max_payload_bytes + limits.max_key_bytes + _ROOM_FOR_HEADERS
    if any(shape.envelope != "raw" for shape in settings.outputs.shape.values()):
        largest *= MOST_GROWTH  # what is too much for a topic, the topic itself says
    return Connection(
        state_id,
        client=quiet(librdkafka_options(settings.kafka)),
        producer={
            "message.max.bytes": max(largest, 1_000_000),
            **librdkafka_producer_options(settings.kafka),
        },
        timeout=settings.publish.transaction_timeout / 1_000_000,
    )


def _retry(settings: Settings) -> RetryRules:
    retry = settings.retry
    return RetryRules(
        retry.max_attempts, retry.max_age, retry.first_delay, retry.longest_delay, retry.jitter
    )


def _shape(settings: Settings, state_id: str) -> Shape:
    publish, shapes = settings.publish, settings.outputs.shape
    return Shape(
        settings.dead_letter.topic,
        settings.internal_topic,
        settings.markers_topic,
        fire_id_header=publish.fire_id_header or publish.guarantee == "at_least_once",
        state_id=state_id,
        late_topic=settings.outputs.late_topic,
        marks=_marks(settings),
        outputs=OutputShapes((pattern, _of_topic(given)) for pattern, given in shapes.items()),
        drop_in=_drop_in(settings),
    )


def _marks(settings: Settings) -> Marks:
    exact = (source.topic for source in settings.sources if source.dialect != "cloudevents")
    return Marks(settings.publish.late_after, frozenset(exact))


def _drop_in(settings: Settings) -> DropIn:
    replaced = (source for source in settings.sources if source.drop_in)
    return DropIn({each.topic: Replaced(each.dialect, each.history_topic) for each in replaced})


def _of_topic(given: ShapeSettings) -> TopicShape:
    return TopicShape(
        add=tuple((name, text.encode()) for name, text in given.add.items()),
        strip=frozenset(given.strip),
        envelope=given.envelope,
        fire_id_header=given.fire_id_header,
    )
