"""The notebooks run to their end on both stores, and show what is in the state."""

import os
import re
import subprocess
import sys
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from making import DONE, FAR, NEAR, REFUSED, Made

from pipeline.local_kafka import LocalKafka

FOLDER = Path(__file__).parents[2] / "notebooks"
NAMES = ["01-inspect", "02-time-travel", "03-dead-letters", "04-capacity"]
PLOTS = {"01-inspect": 3, "02-time-travel": 2, "03-dead-letters": 1, "04-capacity": 2}
PNG = b"\x89PNG\r\n\x1a\n"

Run = Callable[..., "Shown"]


class Shown:
    """What an executed notebook shows."""

    def __init__(self, notebook: Any) -> None:
        self.outputs = [
            output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs
        ]

    @property
    def text(self) -> str:
        """All that was printed, and all results as text."""
        printed = [o.text for o in self.outputs if o.output_type == "stream" and o.name == "stdout"]
        results = [o.data.get("text/plain", "") for o in self.outputs if "data" in o]
        return "\n".join([*printed, *results])

    @property
    def complaints(self) -> str:
        return "".join(o.text for o in self.outputs if o.get("name") == "stderr")

    @property
    def pictures(self) -> list[bytes]:
        shown = [o.data["image/png"] for o in self.outputs if "image/png" in o.get("data", {})]
        return [b64decode(text) for text in shown]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a notebook in a kernel of this interpreter, in a folder of its own."""
    root = str(Path(__file__).parents[2])
    # Warnings of the notebook's own code are errors; those of the kernel's libraries are not ours.
    clean = {k: v for k, v in os.environ.items() if not k.startswith("DUESTREAM_")}
    clean |= {"PYTHONPATH": root, "PYTHONWARNINGS": "error:::__main__", "MPLBACKEND": ""}
    clean |= {"IPYTHONDIR": str(tmp_path / "ipython"), "PYDEVD_DISABLE_FILE_VALIDATION": "1"}

    def execute(name: str, variables: dict[str, str]) -> Shown:
        source, target = FOLDER / f"{name}.ipynb", tmp_path / f"{name}.ipynb"
        ended = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("execute.py")), source, target],
            env=clean | variables,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr[-5_000:]
        notebook = nbformat.read(target, as_version=4)
        keep = os.environ.get("DUESTREAM_TEST_PICTURES")
        shown = Shown(notebook)
        for number, picture in enumerate(shown.pictures if keep else []):
            kind = variables.get("DUESTREAM_STATE__KIND", "delta")
            (Path(str(keep)) / f"{name}-{kind}-{number}.png").write_bytes(picture)
        return shown

    return execute


@pytest.fixture(params=["delta", "mongo"])
def stored(request: pytest.FixtureRequest) -> Made:
    found: Made = request.getfixturevalue(f"on_{request.param}")
    return found


def words(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def checked(shown: Shown, name: str) -> str:
    assert shown.complaints == ""
    assert len(shown.pictures) == PLOTS[name]
    assert all(picture.startswith(PNG) and len(picture) > 5_000 for picture in shown.pictures)
    return words(shown.text)


def test_01_shows_what_waits_what_comes_and_how_late_it_was(run: Run, stored: Made) -> None:
    text = checked(run("01-inspect", stored.variables), "01-inspect")
    assert "difference: 0" in text
    assert f"pending {NEAR + FAR + 4}" in text
    assert f"messages: {DONE} · early: 0 · longest: 249.0 ms" in text
    assert "key: done-000" in text


def test_02_shows_earlier_states_where_there_are_any(run: Run, stored: Made) -> None:
    text = checked(run("02-time-travel", stored.variables), "02-time-travel")
    if stored.kind == "delta":
        # in the last twenty seconds all that is to come was scheduled
        assert f"{NEAR + FAR + 3} messages" in text
        assert "one: as of the commit at" in text
    else:
        assert "This store keeps no earlier states." in text


def test_03_shows_why_and_sends_nothing_unasked(run: Run, stored: Made) -> None:
    nobody = {"NOTEBOOK_RESUBMIT": "yes", "DUESTREAM_KAFKA__BOOTSTRAP_SERVERS": "127.0.0.1:1"}
    asked = nobody if stored.kind == "mongo" else {}
    text = checked(run("03-dead-letters", stored.variables | asked), "03-dead-letters")
    assert "unknown_topic" in text and "invalid_json" in text
    assert f"{3 + REFUSED} would be sent" in text
    why = "no broker at 127.0.0.1:1 has the input topic" if asked else "RESUBMIT is not set"
    assert f"Nothing was sent: {why}." in text


def test_04_says_when_messages_will_be_late(run: Run, stored: Made) -> None:
    text = checked(run("04-capacity", stored.variables), "04-capacity")
    assert f"{DONE} messages in" in text
    assert "measured: 1.0 a second" in text
    assert "At 1.0 a second nothing will wait." in text


def test_03_sends_again_when_told_to(
    run: Run, broker: LocalKafka, read: Any, on_delta: Made
) -> None:
    topic = on_delta.maker.source
    broker.create_topics([topic], partitions=1)
    told = on_delta.variables | {
        "NOTEBOOK_RESUBMIT": "yes",
        "DUESTREAM_KAFKA__BOOTSTRAP_SERVERS": broker.bootstrap_servers,
        "DUESTREAM_SOURCES": f'[{{"topic": "{topic}"}}]',
    }
    text = checked(run("03-dead-letters", told), "03-dead-letters")
    assert f"{3 + REFUSED} sent again" in text
    sent = read(topic)
    assert {m.key() for m in sent if m.value() == b"{ this is no event"} == {
        b"refused-%d" % n for n in range(REFUSED)
    }
    assert {m.key() for m in sent if m.value().startswith(b"the message")} == {
        b"dead-%d" % n for n in range(3)
    }
