"""What every command does alike: sentences, exit codes, and nothing heavy loaded in vain."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pipeline.cli.main import main


def run(monkeypatch: pytest.MonkeyPatch, *args: str) -> int:
    monkeypatch.setattr(sys, "argv", ["duestream", *args])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in an empty folder, without settings from the environment."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("DUESTREAM_")]:
        monkeypatch.delenv(name)


def test_a_mistake_is_a_sentence_on_standard_error_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "config", "show", "--set", "publish.lane=1") == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == "publish.lane: unknown setting; did you mean publish.lanes?\n"


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["schedule", "x", "--topic", "t"], "--at, --in: give one of the two"),
        (["schedule", "x", "--topic", "t", "--in", "1h", "--at", "x"], "--at, --in: give one"),
        (["schedule", "x", "--topic", "t", "--at", "noon"], "--at: 'noon' is no instant"),
        (["schedule", "--topic", "t", "--in", "1h"], "PAYLOAD: give it as an argument"),
        (["schedule", "--topic", "t", "--in", "1h", "--file", "none"], "--file: none cannot be"),
        (["schedule", "x", "--topic", "t", "--in", "soon"], "--in: 'soon' is not a duration"),
        (["schedule", "x", "--topic", "t", "--in", "1h", "--header", "a"], "--header: write NAME"),
        (["cancel", "0xzz"], "KEY: 0xzz is not hexadecimal"),
        (["list", "--status", "pendign"], "--status: pendign is not known; did you mean pending?"),
        (["list", "--due-to", "later"], "--due-to: 'later' is no instant"),
        (["show", "k", "--set", "name"], "--set name: has no value"),
        (["run"], "outputs.allow: names no topic"),
        (["config", "check", "--config", "none.yaml"], "none.yaml cannot be read"),
    ],
)
def test_each_command_tells_its_mistakes(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    args: list[str],
    sentence: str,
) -> None:
    assert run(monkeypatch, *args) == 2
    assert sentence in capsys.readouterr().err


def test_a_flag_nobody_knows_is_refused_with_the_nearest_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "list", "--statsu", "pending") == 2
    assert "--status" in capsys.readouterr().err


def test_config_show_prints_the_layers_as_one_without_secrets(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("duestream.yaml").write_text("name: mine\npublish: {lanes: 2}\n")
    monkeypatch.setenv("DUESTREAM_KAFKA__CLIENT_OPTIONS", '{"sasl.password": "hunter2"}')
    assert run(monkeypatch, "config", "show", "--set", "publish.lanes=3") == 0
    shown = yaml.safe_load(capsys.readouterr().out)
    assert (shown["name"], shown["publish"]["lanes"]) == ("mine", 3)
    assert shown["kafka"]["client_options"] == {"sasl.password": "****"}


def test_config_check_names_the_file_that_is_in_order(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("duestream.yaml").write_text("outputs: {allow: [orders]}\nstate: {kind: memory}\n")
    assert run(monkeypatch, "config", "check") == 0
    assert capsys.readouterr().out == "The settings are in order (duestream.yaml).\n"


def test_the_version_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "version") == 0
    assert capsys.readouterr().out.startswith("duestream 0.")


def test_without_spark_the_extra_to_install_is_told() -> None:
    ended = python(
        "import sys; sys.modules['pyspark'] = None\n"
        "from pipeline.cli.main import main\n"
        "sys.argv = ['duestream', 'run', '--set', 'state.kind=memory', '--set=outputs.allow=a']\n"
        "main()"
    )
    assert ended.returncode == 2
    assert ended.stderr == "pyspark is not installed; install duestream[spark]\n"


def test_the_command_line_loads_nothing_heavy_before_it_is_needed() -> None:
    heavy = "{'pyspark', 'pyarrow', 'deltalake', 'confluent_kafka', 'rich', 'yaml'}"
    ended = python(f"import sys, pipeline.cli.main; print(sorted({heavy} & set(sys.modules)))")
    assert ended.stdout == "[]\n"


def test_the_client_needs_no_spark_and_who_only_sends_no_arrow() -> None:
    heavy = "{'pyspark', 'pyarrow', 'deltalake'}"
    ended = python(f"import sys, pipeline.client; print({heavy} & set(sys.modules))")
    assert ended.stdout == "set()\n"


def test_ctrl_c_ends_with_130_and_without_a_trace(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    args = ("schedule", "--topic", "t", "--in", "1h", "--file", str(pipe))
    process = subprocess.Popen(
        [sys.executable, "-m", "pipeline.cli.main", *args],
        stderr=subprocess.PIPE,
        text=True,
    )
    with pipe.open("wb"):  # returns once the command has opened it, and now waits for bytes
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in told
