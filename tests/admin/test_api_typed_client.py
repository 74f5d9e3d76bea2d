"""A client that is generated from the published description is typed, and does what it says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.installed import installed, run_tool
from pipeline.jvm import cache_folder
from pipeline.node import install_python_package
from state.errors import SetupError
from tests.admin.asking import new_key
from tests.admin.office import OPERATOR, Office

DOCUMENT = Path(__file__).parents[2] / "conf/openapi.json"
GENERATOR = "openapi-python-client==0.29.1"

PROGRAM = """\
import sys

from made import AuthenticatedClient
from made.api.messages import cancel_message, list_messages, put_message
from made.models import Event, MessagePage, Written

url, token, topic, key = sys.argv[1:]
with AuthenticatedClient(base_url=url, token=token) as client:
    event = Event(outputtopic=topic, delayby="1h", data={"order": 7})
    put = put_message.sync(key, client=client, body=event, wait="60s")
    assert isinstance(put, Written) and put.message is not None, put
    listed = list_messages.sync(client=client, key_prefix=key, payload=True)
    assert isinstance(listed, MessagePage), listed
    for message in listed.messages:
        print(message.key, message.version, message.status.value, message.payload)
    gone = cancel_message.sync(key, client=client, if_match=f'"{put.version}"', wait="60s")
    assert isinstance(gone, Written), gone
    print(gone.effect)
"""


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a program, and the package that was made for it."""
    folder = tmp_path_factory.mktemp("typed")
    made = ["generate", "--path", str(DOCUMENT), "--output-path", str(folder / "made")]
    command = [sys.executable, "-m", "openapi_python_client", *made]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # ruff is there
    run_tool(
        [*command, "--meta", "none", "--fail-on-warning"],
        "no client could be generated",
        environ={"PYTHONPATH": str(_generator()), "PATH": path},
    )
    (folder / "program.py").write_text(PROGRAM)
    return folder


def test_the_client_and_a_program_that_uses_it_are_typed(generated: Path) -> None:
    done = _run(generated, "-m", "mypy", "--strict", "made", "program.py")
    # What the generator writes for every service alike is not ours to hold to this.
    wrong = [line for line in done.stdout.splitlines() if "error" in line and "Found" not in line]
    assert [line for line in wrong if not line.startswith("made/client.py")] == []
    assert done.stdout, done.stderr


def test_it_schedules_lists_and_cancels(generated: Path, office: Office) -> None:
    key = new_key()
    done = _run(generated, "program.py", office.url, OPERATOR, office.place.out, key)

    assert done.returncode == 0, done.stderr
    listed, effect = done.stdout.splitlines()
    assert listed.startswith(f"{key} ") and listed.endswith(' pending {"order":7}')
    assert effect == "cancelled"


def _generator() -> Path:
    def build(folder: Path) -> None:
        install_python_package(GENERATOR, folder)

    try:
        return installed(cache_folder() / "python" / GENERATOR, f"installing {GENERATOR}", build)
    except SetupError as error:
        pytest.fail(f"{GENERATOR} is needed to make a client: {error}")


def _run(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    variables = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=variables, capture_output=True, text=True
    )
