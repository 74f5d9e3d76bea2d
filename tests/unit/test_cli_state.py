"""The commands that make a state and copy it, over real tables and a real MongoDB."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.cli.main import main
from state.open import open_store
from state.settings import DeltaSettings, StateSettings
from tests.conftest import Mongo
from tests.state.build import outcome, put, receipt, tick

Run = Callable[..., tuple[str, str]]


@pytest.fixture
def run(
    tmp_path: Path,
    mongo: Mongo,
    database: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """Return what runs a command with both stores set, and returns its output and its errors."""

    def command(*args: str, code: int = 0) -> tuple[str, str]:
        given = (
            f"state.delta.path={tmp_path / 'state'}",
            f"state.mongo.uri={mongo.uri}",
            f"state.mongo.database={database}",
        )
        flags = [flag for setting in given for flag in ("--set", setting)]
        monkeypatch.setattr(sys, "argv", ["duestream", *args, "--config", "/dev/null", *flags])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        assert (ended.value.code or 0) == code, told.err
        return told.out, told.err

    return command


@pytest.fixture
def filled(tmp_path: Path) -> str:
    """Return the name of a state in Delta tables with one row done, one claimed, one pending."""
    delta = DeltaSettings(path=str(tmp_path / "state"))
    store = open_store(StateSettings(delta=delta))
    puts = [put(key, n, due=n) for n, key in enumerate([b"a", b"b", b"c"])]
    store.commit(tick(0, 0, puts, until=1))
    store.commit(tick(1, 1, [], [outcome(b"a", 0, "done", **receipt())]))
    store.close()
    return store.state_id


@pytest.mark.parametrize(
    ("kind", "parts"), [("delta", "tables"), ("mongo", "collections and indexes")]
)
def test_init_makes_a_state_once(run: Run, kind: str, parts: str) -> None:
    first, _ = run("state", "init", "--set", f"state.kind={kind}")
    again, _ = run("state", "init", "--set", f"state.kind={kind}")
    assert first.splitlines()[0] == f"made the {parts}"
    assert again.splitlines()[0] == f"the {parts} were there"
    assert first.splitlines()[1] == again.splitlines()[1]
    assert first.splitlines()[1].endswith("is ready")


def test_init_of_a_state_in_memory_is_a_sentence(run: Run) -> None:
    _, told = run("state", "init", "--set", "state.kind=memory", code=2)
    assert "state.kind is memory: there is nothing to make" in told


def test_copy_tells_what_both_have_and_what_to_do_next(run: Run, filled: str) -> None:
    out, err = run("state", "copy", "--from", "delta", "--to", "mongo")
    told = [line.split() for line in out.splitlines()]
    assert ["rows", "claimed", "1", "1"] in told
    assert ["accepted", "3", "3"] in told
    assert out.splitlines()[-1] == (
        f"the state {filled} is copied; set state.kind to mongo and start the job"
    )
    assert err.splitlines()[-1] == "3 of 3 rows are copied"


def test_the_copy_has_the_same_figures(run: Run, filled: str) -> None:
    run("state", "copy", "--from", "delta", "--to", "mongo")
    for command in ("stats", "audit"):
        before, _ = run(command, "--json", "--set", "state.kind=delta")
        after, _ = run(command, "--json", "--set", "state.kind=mongo")
        assert json.loads(after) == json.loads(before)


def test_copy_to_a_state_that_is_there_is_a_sentence(run: Run, filled: str) -> None:
    run("state", "copy", "--from", "delta", "--to", "mongo")
    _, told = run("state", "copy", "--from", "delta", "--to", "mongo", code=2)
    assert f"holds a state already ({filled}); to copy another there drop the database" in told
    _, told = run("state", "copy", "--from", "mongo", "--to", "delta", code=2)
    assert "remove the folder, or set another state.delta.path" in told


def test_copy_wants_two_stores(run: Run) -> None:
    _, told = run("state", "copy", "--from", "delta", "--to", "delta", code=2)
    assert told == "--from, --to: name two different stores, delta and mongo\n"


def test_copy_of_nothing_is_a_sentence(run: Run) -> None:
    _, told = run("state", "copy", "--from", "delta", "--to", "mongo", code=2)
    assert told.startswith("no state at ")


def test_a_copy_that_differs_is_told_and_ends_with_1(
    run: Run, filled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from state.mongo.receive import MongoTarget

    finish = MongoTarget.finish

    def and_lose_one(self: MongoTarget, *args: object) -> None:
        finish(self, *args)  # type: ignore[arg-type]
        self._db["schedules"].delete_one({"status": "pending"})

    monkeypatch.setattr(MongoTarget, "finish", and_lose_one)
    out, err = run("state", "copy", "--from", "delta", "--to", "mongo", code=1)
    assert ["rows", "pending", "1", "0"] in [line.split() for line in out.splitlines()]
    assert "the copy is not like its source; do not use it" in err
