"""The commands for what is dead, and the audit, over real Delta tables."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.cli.main import main
from pipeline.dialects.attributes import CARRIED
from pipeline.resubmit import _CARRIED
from state.open import open_store
from state.settings import StateSettings
from tests.state.build import at, outcome, put, reject, tick

Run = Callable[..., str]


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a state with three dead messages, one of them followed by another, and a rejection."""
    path = tmp_path_factory.mktemp("state")
    store = open_store(StateSettings.model_validate({"delta": {"path": str(path)}}))
    puts = [put(key, n, due=1) for n, key in enumerate([b"lost", b"again", b"large"])]
    letter = {"key": "duestream-detail", "value": b"no offset in the time"}
    reason = {"key": "duestream-reason", "value": b"invalid_time"}
    store.commit(tick(0, 0, [*puts, reject(10, headers=[reason, letter])], until=2))
    tries = {"attempt": 2, "attempted_at": [at(1), at(61)]}
    why = {"reason": "unknown_topic", "detail": "the topic out does not exist; " + "x" * 80}
    first = [outcome(b"lost", 0, "dead", **tries, **why), outcome(b"again", 1, "dead", **why)]
    store.commit(tick(1, 3, [], first))
    second = [outcome(b"large", 2, "dead", reason="too_large_for_topic")]
    store.commit(tick(2, 4, [put(b"again", 11, due=900)], second))
    store.commit(tick(3, 5, [], [outcome(b"refused 10", 10, "dead")]))
    store.close()
    return path


@pytest.fixture
def run(state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def command(*args: str, code: int = 0) -> str:
        flags = ["--config", "/dev/null", "--set", f"state.delta.path={state}"]
        monkeypatch.setattr(sys, "argv", ["duestream", *args, *flags])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        assert (ended.value.code or 0) == code, told.err
        return told.err + told.out

    return command


def keys(lines: str) -> list[str]:
    return [json.loads(line)["key"] for line in lines.splitlines()]


def test_list_has_both_kinds_the_newest_first(run: Run) -> None:
    assert keys(run("dead", "list", "--json")) == ["refused 10", "large", "again", "lost"]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--reason", "unknown_topic"], ["again", "lost"]),
        (["--reason", "invalid_time"], ["refused 10"]),
        (["--topic", "out"], ["large", "again", "lost"]),
        (["--topic", "in"], ["refused 10"]),
        (["--key", "lost"], ["lost"]),
        (["--since", "2027-01-15T08:00:04Z"], ["refused 10", "large"]),
    ],
)
def test_list_narrows(run: Run, args: list[str], expected: list[str]) -> None:
    assert keys(run("dead", "list", *args, "--json")) == expected


def test_list_prints_a_table_for_people(run: Run) -> None:
    lines = run("dead", "list").splitlines()
    lost = next(line for line in lines if "lost" in line).split()
    assert lost[1:5] == ["message", "unknown_topic", "2027-01-15T08:00:03.000Z", "2"]
    assert lost[-1].endswith("x...")
    refused = next(line for line in lines if "refused 10" in line)
    assert "rejection" in refused
    assert "invalid_time" in refused
    assert "no offset in the time" in refused


def test_list_says_when_it_found_nothing(run: Run) -> None:
    assert run("dead", "list", "--topic", "nobody") == "Nothing found.\n"


def test_show_tells_every_attempt_and_the_payload(run: Run) -> None:
    told = run("dead", "show", "lost")
    assert "2027-01-15T08:00:01.000Z, 2027-01-15T08:01:01.000Z" in told
    assert "payload of lost at 0" in told


def test_show_leaves_out_what_is_not_dead(run: Run) -> None:
    [version] = run("dead", "show", "again", "--json").splitlines()
    assert json.loads(version)["source_offset"] == 1


def test_show_of_a_key_that_is_not_dead_is_a_sentence(run: Run) -> None:
    assert run("dead", "show", "nobody", code=2) == (
        "nothing under the key nobody is dead; dead rows are forgotten after 7d "
        "(state.keep_closed)\n"
    )


def test_resubmit_wants_a_choice(run: Run) -> None:
    assert "KEY: name one, or choose by" in run("dead", "resubmit", code=2)


def test_resubmit_of_nothing_is_a_sentence(run: Run) -> None:
    assert "nothing of this choice is dead" in run("dead", "resubmit", "nobody", code=2)


def test_a_key_with_a_newer_version_is_skipped_and_told(run: Run) -> None:
    told = run("dead", "resubmit", "--all", "--dry-run")
    assert "skipped message again: a newer version of the key is pending, at offset 11" in told
    assert "would send message again" not in told
    assert "3 would be sent, 1 skipped" in told


def test_force_sends_what_has_a_newer_version_the_oldest_first(run: Run) -> None:
    told = run("dead", "resubmit", "--all", "--dry-run", "--force").splitlines()
    assert [line.removeprefix("would send ") for line in told] == [
        "message lost to in",
        "message again to in",
        "message large to in",
        "rejection refused 10 to in",
        "4 would be sent, 0 skipped",
    ]


def test_nothing_is_sent_without_a_yes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    told = run("dead", "resubmit", "lost", code=1)
    assert "Send 1 again?" in told
    assert "sent," not in told


def test_the_headers_carried_are_those_an_event_can_name() -> None:
    assert _CARRIED == CARRIED


def test_audit_closes_and_says_so(run: Run) -> None:
    assert run("audit").splitlines()[-1] == "the ledger closes"
    told = json.loads(run("audit", "--json"))
    assert (told["accepted"], told["difference"], told["differences"]) == (4, 0, [])
    assert told["rows"]["dead"] == 3
