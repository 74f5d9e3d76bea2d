"""One state's lanes on a real broker, without a job around them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pyarrow as pa
from confluent_kafka import Message

from pipeline.local_kafka import LocalKafka
from pipeline.outbox.connection import Connection
from pipeline.outbox.item import items_by_lane
from pipeline.outbox.lane import Flush
from pipeline.outbox.marker import Marker
from pipeline.outbox.plain import PlainPublisher
from pipeline.outbox.publisher import Published, Publisher
from pipeline.outbox.records import Shape
from pipeline.outbox.retry import RetryRules
from pipeline.outbox.topics import Topics
from pipeline.outbox.transactional import TransactionalPublisher
from pipeline.quiet import quiet
from state import row
from state.claims import Room
from state.memory import MemoryStore
from state.settings import DAY
from state.store import Tick
from tests.integration.rows import claimed

LONG_PAST = 1_000


@dataclass
class World:
    """One state's lanes on the broker."""

    connection: Connection
    shape: Shape
    out: str
    known: Topics
    retry: RetryRules = field(default_factory=RetryRules)

    def parts(self, lane: int) -> tuple[Any, ...]:
        return (lane, self.connection, self.shape, self.known, self.retry, lambda: False)

    def publisher(self, lane: int = 0) -> TransactionalPublisher:
        return TransactionalPublisher(*self.parts(lane))

    def plain(self, lane: int = 0) -> PlainPublisher:
        return PlainPublisher(*self.parts(lane))

    def rows(self, *keys: bytes, **columns: list) -> pa.Table:
        given = {"key": list(keys), "output_topic": [self.out] * len(keys)}
        return claimed(**given | {"due": [LONG_PAST] * len(keys)} | columns)

    def only(self, rows: pa.Table, kind: str = "publisher", batch: int = 1) -> Published:
        """Publish all rows as one flush, by a publisher that is there for them alone."""
        publisher: Publisher = getattr(self, kind)()
        publisher.open()
        published = publisher.publish(flush(rows, batch))
        publisher.close()
        return published


def world_on(broker: LocalKafka, topics: Callable[..., str]) -> World:
    """Return a state with topics of its own."""
    client = quiet({"bootstrap.servers": broker.bootstrap_servers})
    connection = Connection(uuid4().hex, client, {"message.max.bytes": 10_000_000}, 60.0)
    shape = Shape(
        topics("dead"),
        topics("internal", partitions=4),
        topics("markers", partitions=4),
        False,
        connection.state_id,
    )
    return World(connection, shape, topics("out", partitions=2), Topics(connection.client))


def flush(rows: pa.Table, batch: int = 1, watermark: int = LONG_PAST) -> Flush:
    return Flush([item for _, item in items_by_lane(rows, 1)], Marker(batch, watermark, 1))


def headers(message: Message) -> dict[str, bytes]:
    return dict(message.headers() or [])


def store_with_claims(rows: pa.Table) -> MemoryStore:
    """A store whose batch 1 has claimed ``rows``."""
    store = MemoryStore(keep_closed=DAY)
    commands = rows.select([n for n in row.COMMANDS.names if n in rows.column_names])
    commands = commands.append_column(row.ENTRY, pa.array(["put"] * rows.num_rows))
    commands = commands.append_column(row.SUPERSEDED, pa.array([0] * rows.num_rows, pa.int32()))
    tick = Tick(
        1, 1, commands.select(row.COMMANDS.names), row.OUTCOMES.empty_table(), 10**15, Room((100,))
    )
    assert store.commit(tick).num_rows == rows.num_rows
    return store
