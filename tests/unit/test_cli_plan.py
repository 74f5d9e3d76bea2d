"""What ``duestream plan`` tells of an event, and how it ends."""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka_records import structured

from pipeline.cli.main import main
from pipeline.cli.plan_output import plan_json
from pipeline.config.load import load_settings
from pipeline.planning.event import REQUIRED, WISHES
from pipeline.planning.plan import NotTaken, plan

Run = Callable[..., str]
NOW = "2030-01-01T00:00:00Z"
ANYWHERE = load_settings(flags={"outputs.allow": "*"}, environ={})


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return what plans an event and returns what is printed."""

    def command(value: bytes, *args: str, code: int = 0) -> str:
        file = tmp_path / "event.json"
        file.write_bytes(value)
        argv = ["duestream", "plan", str(file), "--config", "/dev/null", "--now", NOW]
        monkeypatch.setattr(sys, "argv", [*argv, "--set", "outputs.allow=out", *args])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        assert (ended.value.code or 0) == code, told.err
        return told.out + told.err

    return command


def test_a_message_is_told_with_its_target_and_its_policy_in_words(run: Run) -> None:
    event = structured(
        {
            "repeatcron": "0 12 * * *",
            "repeattz": "Asia/Tokyo",
            "repeatcount": 2,
            "onmiss": "skip",
            "onsameid": "keep",
            "expireafter": "5m",
            "retrymax": 3,
            "retryfor": "1h",
            "outputpartition": 4,
            "data": {"a": 1},
        }
    )
    told = run(event, "--key", "ada")
    for words in [
        "the job would take it",
        "out",
        "ada",
        "8 bytes",
        "repeats by the cron expression '0 12 * * *' in Asia/Tokyo, 2 times in all",
        "occurrences that were missed are not sent",
        "is ignored while another is pending under its key",
        "each occurrence expires when it is 5m late",
        "is tried again at most 3 times when Kafka refuses it",
        "is tried again for at most 1h when Kafka refuses it",
        "in Asia/Tokyo",
    ]:
        assert words in told
    row = next(line for line in told.splitlines() if line.strip().startswith("1 "))
    assert row.split() == [
        *["1", "Tue", "2030-01-01", "12:00:00", "+0900", "2030-01-01T03:00:00Z", "in", "3h"]
    ]


def test_what_is_over_or_past_is_marked(run: Run) -> None:
    late = run(structured({"deliverat": "2029-12-31T00:00:00Z"}))
    assert "at once" in late
    event = {"repeatevery": "1h", "repeatcount": 3, "expirytime": "2030-01-01T01:00:00Z"}
    told = json.loads(run(structured(event), "--json"))
    assert [one["sent"] for one in told["occurrences"]] == [True, False, False]
    assert "not sent: it has expired by then" in run(structured(event))


def test_missed_ones_are_counted(run: Run) -> None:
    event = {"deliverat": "2029-12-31T00:00:00Z", "repeatevery": "1h", "repeatcount": 30}
    assert "22 missed before it" in run(structured(event))


def test_what_lies_beyond_the_calendar_is_told_all_the_same(run: Run) -> None:
    event = {"deliverat": "0001-01-01T00:00:00+14:00", "expireafter": "P1D"}
    assert "microseconds after the epoch" in run(structured(event), "--json")
    assert "at once" in run(structured(event))


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--set", "outputs.allow=other"], "topic_not_allowed"),
        (["--set", "limits.max_payload_bytes=1"], "payload_too_large"),
        (["--set", "limits.max_key_bytes=1", "--key", "ada"], "key_too_large"),
        (["--key", ""], "missing_key"),
        ([], "endless_repeat"),
    ],
)
def test_a_refusal_is_a_reason_a_sentence_and_exit_code_1(
    run: Run, flags: list[str], reason: str
) -> None:
    event = structured({"repeatevery": "1h", "data": "xx"})
    told = run(event, *flags, code=1).splitlines()
    assert told[0] == f"refused: {reason}"
    assert len(told[1]) > 40
    in_json = json.loads(run(event, *flags, "--json", code=1))
    assert (in_json["admitted"], in_json["reason"]) == (False, reason)


def test_the_settings_in_force_decide(run: Run) -> None:
    endless = structured({"repeatevery": "1h"})
    told = run(endless, "--set", "schedules.endless_repeats=true")
    assert "repeats every 1h, without an end" in told
    assert "..." in told


def test_a_command_is_told_with_all_that_was_said(run: Run) -> None:
    kind = {"type": "io.duestream.reschedule.v1", "delayby": "1h", "reason": "later, please"}
    told = run(structured({**kind, "ifversion": "0-17", "actor": "ada", "replyto": "out"}))
    for words in ["reschedule", "2030-01-01T01:00:00Z", "later, please", "0-17", "ada", "out"]:
        assert words in told
    pause = {"type": "io.duestream.pause.v1", "scope": "topic"}
    assert "all for the topic out" in run(structured(pause))
    assert "everything" in run(structured({**pause, "scope": "all"}))


def test_standard_input_is_read_and_a_file_that_is_not_there_told(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"hello")))
    monkeypatch.setattr(sys, "argv", ["duestream", "plan", "-", "--config", "/dev/null"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code, "invalid_json" in capsys.readouterr().out) == (1, True)
    monkeypatch.setattr(sys, "argv", ["duestream", "plan", "none.json"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "EVENT: none.json cannot be read" in capsys.readouterr().err


letters = st.text('aA0-:.$ \\"é\n', max_size=6)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | letters,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(letters, inner, max_size=3),
    max_leaves=3,
)
wished = st.sampled_from([*REQUIRED, *WISHES, "data", "data_base64", "scope", "ifversion"])
events = st.dictionaries(
    wished, values | st.sampled_from(["1h", "@daily", "keep", "0-1"]), max_size=6
)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=40) | events.map(lambda said: structured(said)))
def test_whatever_comes_is_planned_or_refused_and_never_fails(value: bytes) -> None:
    found = plan(value, ANYWHERE, 0)
    if isinstance(found, NotTaken):
        assert found.reason.isidentifier()
        assert found.sentence
    assert json.loads(plan_json(found, None))


def test_planning_never_starts_spark_nor_speaks_to_kafka(tmp_path: Path) -> None:
    file = tmp_path / "event.json"
    file.write_bytes(structured({"repeatevery": "1h", "repeatcount": 3}))
    heavy = "{'pyspark', 'py4j', 'pandas', 'confluent_kafka', 'deltalake'}"
    code = (
        "import sys; from pipeline.cli.main import main\n"
        f"sys.argv = ['', 'plan', '{file}', '--config=/dev/null', '--set=outputs.allow=out']\n"
        "try: main()\n"
        f"except SystemExit as ended: print(ended.code, {heavy} & set(sys.modules))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert ended.stdout.splitlines()[-1] == "0 set()", ended.stderr
