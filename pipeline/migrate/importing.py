"""Imports what is pending on the topic of another scheduler: what ``migrate run`` does.

Every schedule gets the identity and the version that the job would give it, and all records up to
the end of the topic count as taken. So a job that reads the topic from its beginning finds nothing
new in it. What is taken goes upwards in each partition: an import that was cut short goes on where
it stopped, and one that is done again changes nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, StructField, StructType

from pipeline.clock import now_micros
from pipeline.migrate.fates import CLOCKS_DIFFER, FATE, Fate, fates
from pipeline.migrate.report import Report
from pipeline.raw import LINE
from state.columns import reshape
from state.crashpoint import CopyPoint, reach
from state.row import (
    COMMANDS,
    DUE,
    ENTRY,
    HEADERS,
    IDENTITY,
    OUTPUT_KEY,
    OUTPUT_PARTITION,
    OUTPUT_TOPIC,
    PAYLOAD,
    POLICY,
    SCHEDULED,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TIMESTAMP,
    SUPERSEDED,
    Entry,
)
from state.store import Store

_ROWS_A_TASK = 20_000
_PACKED = "packed"
_CONTENT = (OUTPUT_TOPIC, OUTPUT_PARTITION, OUTPUT_KEY, PAYLOAD, HEADERS, DUE, POLICY)
_CARRIED = [field.name for field in LINE if field.name in COMMANDS.names]


@dataclass(frozen=True, slots=True)
class Choice:
    """What of a topic is taken."""

    now: int
    skip_overdue: bool
    with_ends: bool  # whether a cancel, or a mark, may find something in the state


def rows_to_take(lines: DataFrame, report: Report, choice: Choice) -> Iterator[pa.Table]:
    """Yield puts, and cancels of what is over, upwards in each partition (state.row.COMMANDS)."""
    puts, ends = _puts(report, choice), _ends(choice)
    values = {name: F.when(puts, F.col(name)) for name in _CONTENT}
    values[DUE] = F.when(puts, F.col(DUE)).when(_is_mark(), F.col(SOURCE_TIMESTAMP))
    values[ENTRY] = F.when(puts, Entry.PUT.value).otherwise(Entry.CANCEL.value)
    chosen = fates(lines, choice.now, _CARRIED).where(puts | ends)
    chosen = chosen.select(*[values.get(n, F.col(n)).alias(n) for n in _CARRIED])
    tasks = -(-sum(report.fates.values()) // _ROWS_A_TASK) or 1
    place = [F.col(SOURCE_PARTITION), F.col(SOURCE_OFFSET)]
    in_order = chosen.repartitionByRange(tasks, *place).sortWithinPartitions(*place)
    packed = in_order.mapInArrow(_pack, StructType([StructField(_PACKED, BinaryType())]))
    for row in packed.toLocalIterator():
        table = pa.ipc.open_stream(bytes(row[_PACKED])).read_all()
        yield reshape(table, COMMANDS, {SUPERSEDED: 0})


def take_all(store: Store, tables: Iterator[pa.Table], lanes: int) -> Iterator[int]:
    """Take one table after the other; yield how many rows each had."""
    for table in tables:
        said = _with_effect(store, table)
        store.take(said, {}, now_micros(), lanes)
        store.maintain(now_micros())
        reach(CopyPoint.DURING_IMPORT)
        yield table.num_rows


def _puts(report: Report, choice: Choice) -> Column:
    wanted = [Fate.PENDING.value] + ([] if choice.skip_overdue else [Fate.OVERDUE.value])
    refused = [output.topic for output in report.not_allowed]
    allowed = ~F.col(OUTPUT_TOPIC).isin(*refused) if refused else F.lit(True)
    return F.col(FATE).isin(*wanted) & allowed


def _is_mark() -> Column:
    return F.col(FATE) == Fate.SENT.value


def _ends(choice: Choice) -> Column:
    if not choice.with_ends:
        return F.lit(False)
    ended = [Fate.SENT.value, Fate.CANCELLED.value]
    return F.col(FATE).isin(*ended, *([Fate.OVERDUE.value] if choice.skip_overdue else []))


def _pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Make one value of each batch, so that it comes to the driver as the columns it is."""
    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        packed = pa.array([sink.getvalue().to_pybytes()], pa.binary())
        yield pa.RecordBatch.from_arrays([packed], names=[_PACKED])


def _with_effect(store: Store, table: pa.Table) -> pa.Table:
    """Leave out the cancels that end nothing: they would count as too late.

    One that stands for a mark has as its DUE when the mark was written. It ends what was due by
    then: a schedule for later was put when the one before it went out, and is not sent yet.
    """
    is_put = pc.equal(table[ENTRY], Entry.PUT.value)
    ends = table.filter(pc.invert(is_put))
    if ends.num_rows == 0:
        return table
    held = _scheduled(store.pending(ends[IDENTITY].to_pylist(), whole=False))
    effect = [
        put or (identity in held and (by is None or held[identity] <= by + CLOCKS_DIFFER))
        for put, identity, by in zip(
            is_put.to_pylist(), table[IDENTITY].to_pylist(), table[DUE].to_pylist(), strict=True
        )
    ]
    due = pc.if_else(is_put, table[DUE], pa.scalar(None, pa.int64()))
    return reshape(table, COMMANDS, {DUE: due}).filter(pa.array(effect, pa.bool_()))


def _scheduled(pending: pa.Table) -> dict[bytes, int]:
    """Return for which instant each pending schedule was put."""
    return dict(zip(pending[IDENTITY].to_pylist(), pending[SCHEDULED].to_pylist(), strict=True))
