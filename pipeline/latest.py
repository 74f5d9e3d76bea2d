"""Keeps the newest command of each identity within one micro-batch.

On the driver, in Arrow: the batch passes there anyway, and to plan Spark's windows for it in every
micro-batch took longer than to read, decode and check all its records.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.special import is_special
from state.row import (
    ENTRY,
    IDENTITY,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TIMESTAMP,
    SOURCE_TOPIC,
    SUPERSEDED,
    Entry,
)

_PARTITIONS = 1 << 32  # more than a topic can have
_COMPETING = pa.array([Entry.PUT, Entry.CANCEL], pa.string())


def latest(lines: pa.Table) -> pa.Table:
    """Keep one put or cancel per identity, and every line of another kind, in their order.

    Of identities that need thought (pipeline.special) all lines are kept.
    The rule is that of state.version.is_newer: on one partition the offset decides, across
    partitions the timestamp, then the partition. SUPERSEDED counts the puts that were passed over.
    """
    plain = pc.invert(is_special(lines))
    competes = _numbers(pc.and_(pc.is_in(lines[ENTRY], _COMPETING), plain))
    rivals = np.flatnonzero(competes)
    kept, superseded = _winners(lines.take(pa.array(rivals)))
    order = np.concatenate([np.flatnonzero(~competes), rivals[kept]])
    counts = np.concatenate([np.zeros(len(order) - len(kept), np.int32), superseded])
    by_place = np.argsort(order, kind="stable")
    chosen = lines.take(pa.array(order[by_place]))
    column = pa.array(counts[by_place].astype(np.int32))
    return chosen.set_column(lines.schema.get_field_index(SUPERSEDED), SUPERSEDED, column)


def _winners(rivals: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of the newest of each identity, and how many other puts each had."""
    who = _numbers(rivals[IDENTITY].combine_chunks().dictionary_encode().indices)
    # An identity may be withdrawn by records of another topic, with partitions of its own.
    topic = _numbers(rivals[SOURCE_TOPIC].combine_chunks().dictionary_encode().indices)
    partition = _numbers(rivals[SOURCE_PARTITION]) + topic.astype(np.int64) * _PARTITIONS
    timestamp = _numbers(rivals[SOURCE_TIMESTAMP])
    is_put = _numbers(pc.equal(rivals[ENTRY], Entry.PUT)).astype(np.int64)
    by_offset = np.lexsort((_numbers(rivals[SOURCE_OFFSET]), partition, who))
    heads = by_offset[_ends_of_runs(who[by_offset], partition[by_offset])]
    by_time = heads[np.lexsort((partition[heads], timestamp[heads], who[heads]))]
    winners = by_time[_ends_of_runs(who[by_time])]
    puts = np.bincount(who, weights=is_put).astype(np.int64) if len(who) else is_put
    return winners, puts[who[winners]] - is_put[winners]


def _ends_of_runs(*columns: np.ndarray) -> np.ndarray:
    """Tell of each place in ordered columns whether the next one differs."""
    changes = np.zeros(max(len(columns[0]) - 1, 0), bool)
    for column in columns:
        changes |= column[1:] != column[:-1]
    return np.append(changes, True)[: len(columns[0])]


def _numbers(column: pa.ChunkedArray | pa.Array) -> np.ndarray:
    return np.asarray(column)
