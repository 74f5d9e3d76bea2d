"""The commands that look into the state, over real Delta tables."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import pyarrow as pa
import pytest

from pipeline.cli.main import main
from pipeline.clock import now_micros
from state.claims import Room
from state.open import open_store
from state.row import COMMANDS, OUTCOMES
from state.settings import StateSettings
from state.store import Tick

MINUTE = 60_000_000
HOUR = 60 * MINUTE
NOW = now_micros()

Run = Callable[..., str]


def put(key: bytes, offset: int, topic: str, due: int) -> dict[str, Any]:
    return {
        "entry": "put",
        **version(key, offset),
        "hash": crc32(b"in\0" + key),
        "key": key,
        "kind": "message",
        "output_topic": topic,
        "output_key": key,
        "payload": b"payload of " + key,
        "headers": [{"key": "h", "value": b"x"}],
        "due": due,
        "superseded": 0,
    }


def version(key: bytes, offset: int) -> dict[str, Any]:
    place = {"source_topic": "in", "source_partition": 0, "source_offset": offset}
    return {"identity": b"in\0" + key, **place, "source_timestamp": NOW + offset}


def done(key: bytes, offset: int) -> dict[str, Any]:
    receipt = {"published_partition": 2, "published_offset": 40, "published_at": NOW}
    return {**version(key, offset), "status": "done", "attempt": 1, **receipt}


def tick(
    batch: int, puts: list[dict[str, Any]], outcomes: list[dict[str, Any]], claim_until: int
) -> Tick:
    commands = pa.Table.from_pylist(puts, COMMANDS)
    return Tick(
        batch, NOW, commands, pa.Table.from_pylist(outcomes, OUTCOMES), claim_until, Room((100,))
    )


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a state with one message done, one replaced and three pending."""
    path = tmp_path_factory.mktemp("state")
    store = open_store(StateSettings.model_validate({"delta": {"path": str(path)}}))
    store.commit(tick(0, [put(b"early", 0, "orders", NOW - 60 * MINUTE)], [], NOW - 30 * MINUTE))
    puts = [
        put(b"hourly", 1, "orders", NOW + HOUR),
        put(b"\xff", 2, "orders", NOW + 24 * HOUR),
        put(b"overdue", 3, "invoices", NOW - 10 * MINUTE),
    ]
    store.commit(tick(1, puts, [done(b"early", 0)], 0))
    store.commit(tick(2, [put(b"hourly", 4, "orders", NOW + 5 * HOUR)], [], 0))
    store.close()
    return path


@pytest.fixture
def run(state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return what runs a command and returns what it prints."""

    def command(*args: str, code: int = 0, path: Path = state) -> str:
        argv = ["duestream", *args, "--config", "/dev/null", "--set", f"state.delta.path={path}"]
        monkeypatch.setattr(sys, "argv", argv)
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        assert (ended.value.code or 0) == code, told.err
        return told.err if code else told.out

    return command


def keys(lines: str) -> list[str]:
    return [json.loads(line)["key"] for line in lines.splitlines()]


def test_list_tells_what_is_still_to_come_the_next_due_first(run: Run) -> None:
    assert keys(run("list", "--json")) == ["overdue", "hourly", "0xff"]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--status", "done"], ["early"]),
        (["--status", "done", "--status", "replaced"], ["early", "hourly"]),
        (["--topic", "invoices"], ["overdue"]),
        (["--due-from", "-5m", "--due-to", "+6h"], ["hourly"]),
        (["--due-to", "2000-01-01T00:00:00Z"], []),
        (["--key", "0xff"], ["0xff"]),
        (["--limit", "1"], ["overdue"]),
    ],
)
def test_list_narrows(run: Run, args: list[str], expected: list[str]) -> None:
    assert keys(run("list", *args, "--json")) == expected


def test_list_prints_a_table_for_people(run: Run) -> None:
    lines = run("list").splitlines()
    hourly = next(line for line in lines if "hourly" in line)
    assert "pending" in hourly
    assert "in 4h" in hourly
    assert "ago" in next(line for line in lines if "overdue" in line)


def test_list_says_when_it_found_nothing(run: Run) -> None:
    assert run("list", "--topic", "nobody") == "Nothing found.\n"


def test_show_tells_every_version_of_a_key(run: Run) -> None:
    versions = [json.loads(line) for line in run("show", "hourly", "--json").splitlines()]
    assert [(v["source_offset"], v["status"]) for v in versions] == [
        (1, "replaced"),
        (4, "pending"),
    ]


def test_show_tells_payload_headers_and_receipt(run: Run) -> None:
    told = run("show", "early")
    assert told.startswith("key ")
    assert "payload of early" in told
    assert "h: x" in told
    assert "partition 2, offset 40" in told


def test_show_finds_keys_that_are_no_text(run: Run) -> None:
    assert "0xff" in run("show", "0xff")


def test_show_of_an_unknown_key_says_what_may_have_become_of_it(run: Run) -> None:
    told = run("show", "nobody", code=2)
    assert told == (
        "KEY: nothing is known of nobody; closed schedules are forgotten "
        "after 7d (state.keep_closed)\n"
    )


def test_stats_count_and_close(run: Run) -> None:
    told = json.loads(run("stats", "--json"))
    assert (told["accepted"], told["difference"]) == (5, 0)
    assert told["ends"]["pending"] == 3
    assert told["pending_by_topic"] == {"invoices": 1, "orders": 2}
    assert "the ledger closes" in run("stats")


def test_a_state_that_is_not_there_is_told(run: Run, tmp_path: Path) -> None:
    assert "state.delta.path" in run("list", code=2, path=tmp_path / "none")


def test_names_of_tables_are_of_no_use_where_no_spark_session_is() -> None:
    names = "--set=state.delta.catalog_schema=main.duestream"
    ended = subprocess.run(
        [sys.executable, "-m", "pipeline.cli.main", "stats", "--config=/dev/null", names],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith(
        "state.delta.catalog_schema main.duestream: there is no Spark session here"
    )
    assert "set state.delta.path" in ended.stderr


def test_looking_never_starts_spark_nor_loads_what_only_others_need(state: Path) -> None:
    heavy = "{'pyspark', 'py4j', 'pandas', 'confluent_kafka', 'cloudevents'}"
    code = (
        "import sys; from pipeline.cli.main import main\n"
        f"sys.argv = ['', 'stats', '--config=/dev/null', '--set=state.delta.path={state}']\n"
        "try: main()\n"
        f"except SystemExit as ended: print(ended.code, {heavy} & set(sys.modules))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert ended.stdout.splitlines()[-1] == "0 set()", ended.stderr
