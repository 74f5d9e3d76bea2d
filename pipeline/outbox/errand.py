"""A lane's share of a large backlog, published by a task of Spark in the driver's stead.

The task goes by the same rules with the same classes: transactions with the lane's marker inside.
It lets go of nothing that is due after the errand's instant, because later messages are still with
the driver and a marker must not cover them. What a former attempt has published is left out, and
told by the marker. Whatever goes wrong ends the errand early; the driver has the rest.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import pyarrow as pa
from confluent_kafka import KafkaException

from pipeline.clock import now_micros
from pipeline.outbox.connection import Connection
from pipeline.outbox.decision import Decision
from pipeline.outbox.item import items_by_lane
from pipeline.outbox.lane import Flush, Lane
from pipeline.outbox.marker import Marker
from pipeline.outbox.publisher import Published, Publisher
from pipeline.outbox.records import Shape
from pipeline.outbox.report import Flushed, nothing_out, out_of
from pipeline.outbox.retry import RetryRules
from pipeline.outbox.signature import Loan
from pipeline.outbox.taken_over import TakenOver
from pipeline.outbox.topics import Topics
from pipeline.outbox.transactional import TransactionalPublisher
from state.errors import KafkaError
from state.version import Coordinates

_PATIENCE = 10.0  # seconds without success; the driver can wait for longer


Note = Callable[[Flush, Published, int], None]  # hears of a transaction, and when it began


@dataclass(frozen=True, slots=True)
class Means:
    """What it takes to publish for a state, whatever the lane; it travels to executors."""

    connection: Connection
    shape: Shape
    retry: RetryRules


@dataclass(frozen=True, slots=True)
class Errand:
    """Publish these rows of a lane up to an instant."""

    lane: int
    lanes: int
    batch: int  # the newest batch handed over: markers name it
    upto: int
    not_out: list[tuple[int, Coordinates]]  # what stays with the driver nevertheless
    now: int  # the driver's time
    loan: Loan
    rows: bytes  # as Arrow's stream


@dataclass(slots=True)
class Done:
    """How an errand went: what this attempt published, by the place of the rows."""

    lane: int
    out: list[pa.Array] = field(default_factory=nothing_out)  # as report.Out has them
    decided: dict[int, Decision] = field(default_factory=dict)
    # Of each transaction when it began and ended, and how many messages were in it.
    flushes: list[tuple[int, int, int]] = field(default_factory=list)
    trouble: str | None = None  # why it ended early


def pack(rows: pa.Table) -> bytes:
    """Return rows as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def unpack(packed: bytes) -> pa.Table:
    """Return the rows."""
    with pa.ipc.open_stream(packed) as reader:
        return reader.read_all()


def run_errand(means: Means, errand: Errand) -> Done:
    """Publish, in a task; one that another attempt or the driver has fenced ends quietly.

    Were it to fail, Spark would start one more attempt, which would fence the one that has taken
    over, and so on.
    """
    done, flushed, clock = Done(errand.lane), list[Flushed](), clock_from(errand.now)

    def note(flush: Flush, published: Published, began: int) -> None:
        flushed.append((flush.items, published))
        count = len(flush.items) - len(published.decided)
        done.flushes.append((began, clock(), count))
        done.decided |= {flush.items[n].index: said for n, said in published.decided.items()}

    try:
        _borrow_and_publish(means, errand, note, clock)
    except TakenOver:
        done.trouble = "another attempt of the task, or the driver, has the lane by now"
    except KafkaException as error:
        done.trouble = error.args[0].str()
    except Exception as error:  # else all other lanes' receipts would be lost with Spark's job
        done.trouble = f"{type(error).__name__}: {error}"
    for out in out_of(flushed):  # one: all rows came together
        done.out = list(out[1:])
    return done


def _borrow_and_publish(means: Means, errand: Errand, note: Note, clock: Callable[[], int]) -> None:
    last = time.monotonic()

    def note_success(flush: Flush, published: Published, began: int) -> None:
        nonlocal last
        last = time.monotonic()
        note(flush, published, began)

    publisher = TransactionalPublisher(
        errand.lane,
        means.connection,
        means.shape,
        Topics(means.connection.client),
        means.retry,
        lambda: time.monotonic() - last > _PATIENCE,
        clock,
    )
    try:
        marker = publisher.borrow(errand.loan)
        if marker is None:
            raise KafkaError(f"lane {errand.lane} has no marker")
        publish_all(errand, unpack(errand.rows), marker, publisher, note_success, clock)
    finally:
        publisher.close()


def clock_from(now: int) -> Callable[[], int]:
    """Return a clock that goes on from the driver's time.

    An executor's own may be wrong, and it must not decide what has expired. This one is behind by
    what it took until the task began.
    """
    began = time.monotonic_ns()
    return lambda: now + (time.monotonic_ns() - began) // 1000


def publish_all(
    errand: Errand,
    rows: pa.Table,
    marker: Marker,
    publisher: Publisher,
    note: Note,
    clock: Callable[[], int] = now_micros,
) -> None:
    """Publish what ``marker`` does not cover, flush by flush; ``note`` hears of each."""
    lane = Lane(errand.lane, errand.lanes, watermark=marker.watermark)
    items = [item for _, item in items_by_lane(rows, errand.lanes)]
    lane.add([item for item in items if not item.is_covered(marker)], errand.batch)
    lane.leave_out(errand.not_out)
    while (flush := lane.release(errand.upto)) is not None:
        began = clock()
        published = publisher.publish(flush)
        lane.published(flush, published.decided)
        note(flush, published, began)
