"""How rows and counts are written, as JSON and as tables."""

import json
from io import StringIO
from typing import Any

import pytest
from rich.console import Console, RenderableType

from pipeline.as_json import row_json, stats_json
from pipeline.cli.as_table import rows_table, stats_table, version_table
from state.inspect import Ledger, Stats
from state.pausing import Paused
from state.row import PARKED, ROW, Status

SECOND = 1_000_000
NOW = 1_893_456_000 * SECOND  # 2030-01-01T00:00:00Z


def row(**changes: object) -> dict[str, Any]:
    base: dict[str, Any] = dict.fromkeys(ROW.names)
    base |= {
        "identity": b"in\0order-17",
        "source_topic": "in",
        "source_partition": 0,
        "source_offset": 7,
        "source_timestamp": NOW - 60 * SECOND,
        "occurrence": 0,
        "key": b"order-17",
        "kind": "message",
        "output_topic": "orders",
        "output_key": b"order-17",
        "payload": b'{"n":1}',
        "headers": [],
        "due": NOW + 90 * SECOND,
        "scheduled": NOW + 90 * SECOND,
        "status": "pending",
        "attempt": 0,
        "batch": 3,
        "changed_at": NOW,
    }
    return base | changes


def printed(what: RenderableType) -> str:
    out = StringIO()
    Console(file=out, width=160).print(what)
    return out.getvalue()


def test_a_row_in_json_has_every_column_but_the_identity() -> None:
    line = json.loads(row_json(row()))
    assert set(line) == set(ROW.names) - {"identity"}
    assert (line["key"], line["payload"]) == ("order-17", '{"n":1}')
    assert line["due"] == "2030-01-01T00:01:30.000000Z"
    assert line["claim"] is None


def test_bytes_that_are_no_text_stand_in_json_as_base64() -> None:
    headers = [{"key": "a", "value": b"\xff"}, {"key": "b", "value": None}]
    line = json.loads(row_json(row(key=b"\xff", payload=b"\xff\x00", headers=headers)))
    assert line["key"] == "0xff"
    assert (line["payload_base64"], "payload" in line) == ("/wA=", False)
    assert line["headers"] == [{"key": "a", "value_base64": "/w=="}, {"key": "b", "value": None}]


def test_the_table_tells_when_each_row_is_due() -> None:
    text = printed(rows_table([row(), row(key=b"[red]x", payload=None)], NOW))
    assert "2030-01-01T00:01:30.000Z" in text
    assert "in 1m 30s" in text
    assert "[red]x" in text
    assert "null" in text


def test_a_done_version_shows_its_receipt_and_how_late_it_was() -> None:
    receipt = {"published_partition": 1, "published_offset": 9, "published_at": NOW + 90_012_000}
    text = printed(version_table(row(status="done", **receipt), NOW))
    assert "partition 1, offset 9, 2030-01-01T00:01:30.012Z, 12ms after due" in text


def test_an_occurrence_has_the_number_that_its_header_has() -> None:
    assert "2 of its series" in printed(version_table(row(occurrence=1), NOW))
    assert "series" not in printed(version_table(row(), NOW))


def test_a_done_version_without_receipt_says_so() -> None:
    assert "receipt unknown" in printed(version_table(row(status="done"), NOW))


def test_a_dead_version_shows_the_reason() -> None:
    text = printed(version_table(row(status="dead", reason="no_topic", detail="gone"), NOW))
    assert "no_topic: gone" in text


@pytest.mark.parametrize(
    ("payload", "shown"),
    [
        (b'{"n":1.00}', '{"n":1.00}'),
        (b'{"n":1,"n":2}', '{"n":1,"n":2}'),
        (b"12345678901234567890123.5", "12345678901234567890123.5"),
        (b"plain [red]text", "plain [red]text"),
        (b"\xff\x00", "0xff00"),
        (None, "null"),
    ],
)
def test_a_payload_is_shown_as_it_is(payload: bytes | None, shown: str) -> None:
    assert f"payload  {shown} " in printed(version_table(row(payload=payload), NOW)) + " "


def test_a_payload_of_json_is_shown_in_lines_where_that_changes_nothing() -> None:
    lines = printed(version_table(row(payload=b'{"n":1,"m":"x"}'), NOW)).splitlines()
    assert [line.strip() for line in lines[-3:]] == ['"n": 1,', '"m": "x"', "}"]


def ledger(**changes: int) -> Ledger:
    ends = {Status.PENDING: 3, Status.DONE: 4}
    return Ledger(**({"accepted": 7, "rejected": 1, "late_cancels": 2} | changes), ends=ends)


def test_stats_say_whether_the_ledger_closes() -> None:
    closed = Stats(ledger(), 12, NOW + SECOND, None, {"orders": 3})
    text = printed(stats_table(closed, NOW))
    assert "the ledger closes" in text
    assert "in 1s" in text
    assert "pending for orders" in text
    open_ = printed(stats_table(Stats(ledger(accepted=9), -1, None, NOW - SECOND), NOW))
    assert "does not close: 2 missing" in open_
    assert "none yet" in open_


def test_stats_in_json_have_every_count() -> None:
    line = json.loads(stats_json(Stats(ledger(), 12, NOW, None, {"orders": 3})))
    assert line["ends"] == {"pending": 3, "done": 4}
    assert (line["accepted"], line["difference"], line["rejected"]) == (7, 0, 1)
    assert (line["next_due"], line["oldest_overdue"]) == ("2030-01-01T00:00:00.000000Z", None)


@pytest.mark.parametrize(
    ("pauses", "told"),
    [
        (Paused(), "paused          1\n"),
        (Paused(topics=frozenset({"b", "a"})), "1, and all that falls due for a, b"),
        (Paused(everything=True), "1, and everything that falls due"),
    ],
)
def test_the_counts_tell_what_is_paused_besides_keys(pauses: Paused, told: str) -> None:
    stats = Stats(Ledger(1, {Status.PENDING: 1}, 0, 0), 3, None, None, {}, 1, pauses)
    lines = [line.rstrip() + "\n" for line in printed(stats_table(stats, NOW)).splitlines()]
    assert any(told in line for line in lines)
    assert json.loads(stats_json(stats))["pauses"] == pauses.to_dict()


def test_a_paused_row_says_so_and_when_it_was_due() -> None:
    paused = row(due=PARKED + 1)
    for text in (printed(rows_table([paused], NOW)), printed(version_table(paused, NOW))):
        assert "paused" in text
        assert "2030-01-01T00:01:30.000Z" in text
    line = json.loads(row_json(paused))
    assert (line["due"], line["scheduled"]) == (None, "2030-01-01T00:01:30.000000Z")
    stats = Stats(ledger(), 1, PARKED, None, {})
    assert json.loads(stats_json(stats))["next_due"] is None
    assert "next due" in printed(stats_table(stats, NOW))


def test_a_command_is_shown_as_what_it_is_and_not_as_a_message() -> None:
    said = {"who": "ada", "why": "paid", "what": "cancel", "scope": "key", "effect": "cancelled"}
    nothing = {"output_topic": None, "output_key": None, "payload": None, "occurrence": -1}
    command = row(kind="command", status="done", detail=json.dumps(said), **nothing)
    text = printed(version_table(command, NOW))
    told = dict(line.split(maxsplit=1) for line in text.splitlines())
    assert {name: value.strip() for name, value in told.items()} == {
        "command": "cancel",
        "about": "order-17",
        "effect": "cancelled",
        "who": "ada",
        "why": "paid",
        "from": "in, partition 0, offset 7, 2029-12-31T23:59:00.000Z",
    }
