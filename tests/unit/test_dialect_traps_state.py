"""The traps up to the state: what is pending stays, what is overdue goes out late, and once."""

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from foreign_records import SOURCES
from kafka_records import RULES, SENT_MICROS, frame
from test_avro_schedule import SCHEDULES, encode
from test_dialect_traps import FOREIGN, TRAPS, YESTERDAY

from pipeline.admit import admit
from pipeline.deadletter import with_dead_letters
from pipeline.dialects.choose import decode
from pipeline.latest import latest
from pipeline.lines import command_lines, with_batch_time
from state.claims import Room
from state.memory import MemoryStore
from state.row import COMMANDS, IDENTITY, KIND, OUTCOMES, SOURCE_OFFSET, SOURCE_TOPIC, Kind
from state.store import Tick

HOUR = 3_600_000_000
A_BATCH = 100  # offsets
HARMLESS = (
    "negative epoch",
    "very negative epoch",
    "milliseconds",
    "nanoseconds",
    "keyless tombstone",
    "empty key",
    "foreign record",
    "mark of what was sent",
)
UNREADABLE = ("zero-length value", "garbage")  # but to these two it is a payload:
ANY_VALUE = ("etf1", "karafka")


def _decoded(spark, rows: list[tuple]) -> pa.Table:
    lines = frame(spark, rows).transform(decode, SOURCES).transform(admit, RULES)
    table = lines.transform(command_lines).transform(with_batch_time).toArrow()
    return with_dead_letters(table, "dead")


def _batch(lines: pa.Table, first: int) -> pa.Table:
    offsets = pc.field(SOURCE_OFFSET)
    own = lines.filter((offsets >= first) & (offsets < first + A_BATCH))
    return latest(own).select(COMMANDS.names).cast(COMMANDS)


def _commit(store: MemoryStore, batch: int, commands: pa.Table, now: int) -> pa.Table:
    nothing = OUTCOMES.empty_table()
    return store.commit(Tick(batch, now, commands, nothing, now, Room((1000,))))


def _messages(claims: pa.Table) -> list[str]:
    kinds, topics = claims[KIND].to_pylist(), claims[SOURCE_TOPIC].to_pylist()
    return sorted(t for t, kind in zip(topics, kinds, strict=True) if kind == Kind.MESSAGE)


def _numbered(rows: list[tuple], first: int) -> list[tuple]:
    return [(*row[:5], first + number, row[6]) for number, row in enumerate(rows)]


def _later(row: tuple) -> tuple:
    """The record of a schedule due an hour after the first batch, in place of one of yesterday."""
    due = SENT_MICROS // 1_000_000 + 3600
    text = str(YESTERDAY).encode()
    headers = [(n, bytearray(str(due).encode()) if v == text else v) for n, v in row[2] or []]
    values = {
        "kms-avro": encode(SCHEDULES["four fields"]._replace(time=due * 1000)),
        "kms-json": bytes(row[1]).replace(text, str(due).encode()),
        "cloudevents-mongo": bytes(row[1]).replace(
            b"2025-12-31T12:00:00Z", b"2026-01-01T13:00:00Z"
        ),
    }
    value = bytearray(values.get(row[3], bytes(row[1])))
    return (row[0], value, headers or None, *row[3:])


@pytest.fixture(scope="module")
def batches(spark):
    good = [_later(row) for row in TRAPS["due yesterday"].values()]
    bad = [row for trap in HARMLESS for row in TRAPS[trap].values()]
    bad += [TRAPS[trap][d] for trap in UNREADABLE for d in FOREIGN if d not in ANY_VALUE]
    late = list(TRAPS["due yesterday"].values())
    parts = [_numbered(rows, n * A_BATCH) for n, rows in enumerate((good, bad, late))]
    lines = _decoded(spark, [row for part in parts for row in part])
    return [_batch(lines, n * A_BATCH) for n in range(len(parts))]


def test_no_trap_of_its_key_takes_a_good_schedule_away(batches):
    good, bad, _ = batches
    store = MemoryStore(keep_closed=HOUR)
    assert _messages(_commit(store, 1, good, SENT_MICROS)) == []
    assert _messages(_commit(store, 2, bad, SENT_MICROS + 1)) == []
    out = _commit(store, 3, COMMANDS.empty_table(), SENT_MICROS + HOUR)
    assert _messages(out) == sorted(FOREIGN)


def test_what_fell_due_while_the_job_was_down_goes_out_late_and_once(batches):
    late = batches[2]
    store = MemoryStore(keep_closed=HOUR)
    assert _messages(_commit(store, 1, late, SENT_MICROS)) == sorted(FOREIGN)
    assert _messages(_commit(store, 2, COMMANDS.empty_table(), SENT_MICROS + HOUR)) == []
    assert len(set(late[IDENTITY].to_pylist())) == len(FOREIGN)
