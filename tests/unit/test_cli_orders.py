"""Commands to the job: whom they choose from real Delta tables, and what is told before."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.choice import Choice, choose
from pipeline.cli.main import main
from state.open import open_inspector, open_store
from state.row import PARKED
from state.settings import StateSettings
from tests.state.build import at, outcome, put, tick

Run = Callable[..., str]
SHOP = [{"key": "shop", "value": b"7"}, {"key": "more", "value": b"x"}]


def settings(path: Path) -> StateSettings:
    return StateSettings.model_validate({"delta": {"path": str(path)}})


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a state with pending messages, one claimed and one done."""
    path = tmp_path_factory.mktemp("state")
    store = open_store(settings(path))
    many = [put(b"many-%02d" % n, 100 + n, due=5000 + n) for n in range(12)]
    store.commit(tick(0, 0, [put(b"gone", 0, due=1), put(b"soon", 1, due=2)], until=3))
    puts = [
        put(b"order-1", 2, due=1000, partition=3),
        put(b"order-2", 3, due=2000, headers=SHOP),
        put(b"order-3", 4, due=3000, output_topic="bills", headers=SHOP[:1]),
        *many,
    ]
    store.commit(tick(1, 4, puts, [outcome(b"gone", 0, "done")]))
    store.commit(tick(2, 5, [put(b"order-1", 9, due=1500, partition=3)]))
    store.close()
    return path


@pytest.fixture
def run(state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def command(*args: str, code: int = 0) -> str:
        flags = ["--config", "/dev/null", "--set", f"state.delta.path={state}"]
        # Nobody listens there: what is sent by mistake fails.
        flags += ["--set", "kafka.bootstrap_servers=127.0.0.1:1"]
        monkeypatch.setattr(sys, "argv", ["duestream", *args, *flags])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        assert (ended.value.code or 0) == code, told.err
        return told.err + told.out

    return command


@pytest.mark.parametrize(
    ("choice", "keys"),
    [
        (Choice(key_prefix=b"order-"), [b"order-1", b"order-2", b"order-3"]),
        (Choice(topic="bills"), [b"order-3"]),
        (Choice(headers={"shop": b"7"}), [b"order-2", b"order-3"]),
        (Choice(headers={"shop": b"7", "more": b"x"}), [b"order-2"]),
        (Choice(headers={"shop": b"8"}), []),
        (Choice(due_from=at(1500), due_to=at(3000)), [b"order-1", b"order-2"]),
        (Choice(key_prefix=b"soon"), [b"soon"]),
        (Choice(key_prefix=b"gone"), []),
        (Choice(source="in", topic="bills"), [b"order-3"]),
        (Choice(source="elsewhere"), []),
    ],
)
def test_a_choice_finds_what_is_pending(state: Path, choice: Choice, keys: list[bytes]) -> None:
    assert [one.key for one in choose(open_inspector(settings(state)), choice)] == keys


def test_what_is_paused_is_chosen_by_when_it_was_due(tmp_path: Path) -> None:
    store = open_store(settings(tmp_path))
    store.commit(tick(0, 0, [put(b"held", 0, due=2), put(b"due", 1, due=2)], until=3))
    back = outcome(b"held", 0, "pending") | {"due": PARKED + 1}
    store.commit(tick(1, 1, [], [back]))
    store.close()
    inspector = open_inspector(settings(tmp_path))
    for choice in (Choice(due_to=at(3)), Choice(due_from=at(1)), Choice(key_prefix=b"")):
        assert {one.key for one in choose(inspector, choice)} == {b"held", b"due"}
    assert choose(inspector, Choice(due_from=at(3))) == []
    assert choose(inspector, Choice(due_from=at(3), due_to=at(9))) == []


def test_each_is_found_with_the_version_that_is_pending(state: Path) -> None:
    [one] = choose(open_inspector(settings(state)), Choice(key_prefix=b"order-1"))
    assert one == ("in", b"order-1", "3-9")


@pytest.mark.parametrize("command", ["cancel", "send-now", "pause", "resume"])
def test_a_dry_run_tells_the_count_and_the_first_ten(run: Run, command: str) -> None:
    lines = run(command, "--key-prefix", "many-", "--dry-run").splitlines()
    assert lines[0] == f"12 would be sent: {command}"
    assert lines[1:11] == [f"  many-{n:02}" for n in range(10)]
    assert lines[11:] == ["  ... and 2 more"]


def test_a_dry_run_for_programs(run: Run) -> None:
    told = json.loads(run("reschedule", "--in", "1h", "--topic", "bills", "--dry-run", "--json"))
    assert told == {"command": "reschedule", "count": 1, "sent": False, "first": ["order-3"]}


def test_nothing_is_sent_without_a_yes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    told = run("cancel", "--key-prefix", "order-", code=1)
    assert "Send cancel for 3?" in told
    assert "sent:" not in told


def test_a_choice_that_finds_nothing_sends_nothing_and_does_not_ask(run: Run) -> None:
    assert run("cancel", "--key-prefix", "nobody") == "0 sent: cancel\n"


def test_a_topic_alone_is_paused_as_such(run: Run) -> None:
    assert (
        run("pause", "--topic", "bills", "--dry-run") == "would send: pause for the topic bills\n"
    )
    assert run("resume", "--all", "--dry-run") == "would send: resume for everything\n"
    assert "1 would be sent" in run("pause", "--topic", "bills", "--source", "in", "--dry-run")


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["cancel"], "KEY: name one, or choose by --topic"),
        (["pause"], "or --all"),
        (["cancel", "k", "--topic", "t"], "KEY: name one, or choose many by the options"),
        (["pause", "k", "--all"], "--all: is everything"),
        (["cancel", "--topic", "t", "--if-version", "0-1"], "--if-version: is of one KEY"),
        (["cancel", "--topic", "t", "--input", "x"], "--input: is of one KEY"),
        (["cancel", "--key-prefix", "0xzz"], "--key-prefix: 0xzz is not hexadecimal"),
        (["cancel", "--header", "x"], "--header: write NAME=VALUE"),
        (["cancel", "--due-to", "later"], "--due-to: 'later' is no instant"),
        (["cancel", "k", "--if-version", "17"], "--if-version: '17' is no version"),
        (["reschedule", "k"], "--at, --in: give one of the two"),
        (["reschedule", "k", "--at", "noon"], "--at: 'noon' is no instant"),
        (["reschedule", "k", "--in", "soon"], "--in: 'soon' is not a duration"),
        (["cancel", "k", "--reply-to", "a b"], "--reply-to: 'a b' is no topic name"),
    ],
)
def test_each_mistake_is_told_by_the_name_of_the_option(
    run: Run, args: list[str], sentence: str
) -> None:
    assert sentence in run(*args, code=2)


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--every", "often"], "--every 'often' is not a duration"),
        (["--cron", "x"], "--cron 'x' is not a cron expression"),
        (["--every", "1h", "--tz", "UTC"], "--tz 'UTC' is of use only with --cron"),
        (["--every", "1h", "--until", "noon"], "--until 'noon' is not an instant"),
        (["--every", "1h", "--count", "none"], "--count 'none'"),
        (["--every", "1h", "--on-miss", "x"], "--on-miss 'x' is not known"),
        (["--in", "1h", "--on-same", "x"], "--on-same 'x' is not known"),
        (["--in", "1h", "--settle-for", "1m"], "--settle-for '1m' is of use only"),
        (["--in", "1h", "--expire-after", "0s"], "--expire-after '0s'"),
        (["--in", "soon"], "--in: 'soon' is not a duration"),
        (["--every", "1h", "--attribute", "repeatevery=2h"], "repeatevery is given by --every too"),
        (["--count", "3"], "--at, --in: give one of the two"),
    ],
)
def test_schedule_names_the_option_it_cannot_follow(
    run: Run, args: list[str], sentence: str
) -> None:
    assert sentence in run("schedule", "x", "--topic", "t", *args, code=2)
