"""What went out is told to the state whole, in parts where a store takes long for it."""

import threading

import pyarrow as pa
import pytest
from flushes import NOW, flush_of

from pipeline.backlog import Backlog
from pipeline.horizon import Horizon
from pipeline.latest import latest
from pipeline.measure import Measure
from pipeline.outbox.outbox import Outbox
from pipeline.outbox.publisher import Published
from pipeline.outbox.report import Report
from pipeline.raw import TIMED_COMMANDS
from pipeline.tick import Ticker
from state.memory import MemoryStore
from state.row import BATCH_TIME, KEY, Entry


def report_of(*flushes: tuple[bytes, ...]) -> Report:
    report = Report()
    for keys in flushes:
        flush = flush_of(*keys)
        report.add(flush.items, Published(NOW, [(0, 1)] * len(keys), {}))
    return report


def told(report: Report, most: int | None) -> list[int]:
    """How many outcomes come at a time, until none is left."""
    counts = []
    while rows := report.take(most).num_rows:
        counts.append(rows)
    return counts


FLUSHES = ((b"a", b"b"), (b"c",), (b"d", b"e", b"f"), (b"g",))


@pytest.mark.parametrize(
    ("most", "counts"),
    [(None, [7]), (7, [7]), (100, [7]), (1, [1] * 7), (3, [3, 3, 1]), (4, [4, 3])],
)
def test_each_is_told_once(most, counts):
    assert told(report_of(*FLUSHES), most) == counts


def test_the_oldest_come_first():
    report = report_of(*FLUSHES)
    assert report.take(1)["source_offset"].to_pylist() == [0]
    report.add(flush_of(b"z").items, Published(NOW, [(0, 1)], {}))
    assert report.take(9)["source_offset"].to_pylist() == [1, 0, 0, 1, 2, 0, 0]


def test_what_was_decided_stays_with_its_message() -> None:
    decisions = {0: "again", 2: "dead", 3: "again"}
    first, rest = Published(NOW, [None, (0, 1), None, None], decisions).cut(3)
    assert first == Published(NOW, [None, (0, 1), None], {0: "again", 2: "dead"})
    assert rest == Published(NOW, [None], {0: "again"})


class Slow(MemoryStore):
    """Asks for few outcomes at once."""

    outcomes_at_once = 1


@pytest.mark.parametrize(
    ("store", "once", "commands", "asked"),
    [
        (MemoryStore, False, 0, None),
        (Slow, False, 0, 1),
        (Slow, False, 3, 3),  # or outcomes would fall behind what comes in
        (Slow, True, 0, None),  # no batch may follow
    ],
)
def test_a_batch_carries_as_many_as_its_store_takes(store, once, commands, asked):
    outbox = Outbox([None], 0, threading.Event())
    counts: list[int | None] = []
    take = outbox.reported
    outbox.reported = lambda most=None: (counts.append(most), take(most))[1]
    parts = (store(0), outbox, Horizon(0, 0), Backlog(9, 9, {}), Measure())
    Ticker(*parts, once=once)(lambda: latest(lines(commands)), 0)
    assert counts == [asked]


def lines(commands: int) -> pa.Table:
    """A batch with so many cancels, and the clock."""
    base = {BATCH_TIME: NOW}
    cancels = [
        base
        | {
            "entry": Entry.CANCEL.value,
            "identity": b"in\0%d" % n,
            "source_topic": "in",
            "source_partition": 0,
            "source_offset": n,
            "source_timestamp": 1,
            "hash": n,
            KEY: b"%d" % n,
            "occurrence": 0,
        }
        for n in range(commands)
    ]
    return pa.Table.from_pylist(
        [*cancels, base | {"entry": Entry.CLOCK.value}], schema=TIMED_COMMANDS
    )
