"""What the state cannot keep is refused when it is admitted, and told of by where it lies."""

import pyarrow as pa
import pytest

from pipeline.deadletter import with_dead_letters
from pipeline.fitting import fitting
from pipeline.raw import LINE, RAW_HEADERS, RAW_VALUE, VERDICT
from state.row import BATCH_TIME

LARGEST = 1_000
TIMED = LINE.append(pa.field(BATCH_TIME, pa.int64()))


def line(offset: int, **more: object) -> dict[str, object]:
    return {
        "entry": "put",
        "identity": b"in\0k",
        "source_topic": "in",
        "source_partition": 3,
        "source_offset": offset,
        "source_timestamp": 5_000,
        "key": b"k",
        "payload": b"small",
        "headers": [],
        **more,
    }


def letters(*lines: dict[str, object], largest: int | None = LARGEST) -> pa.Table:
    table = pa.Table.from_pylist(list(lines), schema=TIMED)
    return with_dead_letters(fitting(table, largest), "dead")


@pytest.mark.parametrize(
    "large",
    [
        {"payload": b"x" * 1_001},
        {"key": b"x" * 1_001},
        {"key": b"x" * 501, "identity": b"in\0" + b"x" * 501},
        {"headers": [{"key": "", "value": None}] * 21},
        {"headers": [{"key": "h", "value": b"x" * 600}, {"key": "g", "value": b"x" * 401}]},
        {"headers": [{"key": "h" * 1_001, "value": None}]},
        {"payload": b"x" * 600, "headers": [{"key": "h", "value": b"x" * 401}]},
        {VERDICT: "invalid_json no", RAW_VALUE: b"x" * 1_001},
        {VERDICT: "invalid_json no", RAW_HEADERS: [{"key": "h", "value": b"x" * 1_001}]},
    ],
    ids=[
        "payload",
        "key",
        "key twice",
        "many headers",
        "headers",
        "header name",
        "together",
        "refused",
        "refused headers",
    ],
)
def test_what_is_too_large_becomes_a_dead_letter_that_names_its_place(large):
    rows = letters(line(1), line(2, **large), line(3)).to_pylist()
    [refused] = [row for row in rows if row["entry"] == "reject"]
    assert refused["source_offset"] == 2
    assert refused["reason"] == "too_large_for_state"
    assert "1000 bytes" in refused["detail"]
    assert "state.kind" in refused["detail"]
    assert refused["payload"] is None
    said = {h["key"]: h["value"] for h in refused["headers"]}
    assert (said["duestream-partition"], said["duestream-offset"]) == (b"3", b"2")
    assert sorted(r["source_offset"] for r in rows if r["entry"] == "put") == [1, 3]


def test_what_just_fits_is_taken():
    headers = [{"key": "h", "value": b"x" * 345}]
    rows = letters(line(1, payload=b"x" * 599, headers=headers), line(2, payload=b"y" * 990))
    assert rows.column("entry").to_pylist() == ["put", "put"]


def test_a_state_without_a_limit_takes_everything():
    rows = letters(line(1, payload=b"x" * 100_000), largest=None)
    assert rows.column("entry").to_pylist() == ["put"]
