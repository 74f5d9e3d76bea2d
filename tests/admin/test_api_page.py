"""Every curl line of the page about the API is run, and does not fail."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.admin.office import OPERATOR, Office

PAGE = (Path(__file__).parents[2] / "docs/api.md").read_text()
BLOCKS = re.findall(r"^```\n(curl .*?)^```", PAGE, re.DOTALL | re.MULTILINE)
LINES = [line for block in BLOCKS for line in re.split(r"\n(?=curl )", block.strip())]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("curl")
    (made / "picture.png").write_bytes(b"\x89PNG")
    return made


def test_the_lines_of_the_page_work_one_after_the_other(office: Office, folder: Path) -> None:
    prologue = f'set -u\nAPI={office.url}/v1\nAUTH="Authorization: Bearer {OPERATOR}"\n'
    assert len(LINES) > 15
    for line in LINES:
        own = line.replace("reminders", office.place.out).replace("wait=5s", "wait=60s")
        # What is about times alone would also move what other tests have there.
        own = own.replace('"due_to": "+1h"', f'"due_to": "+1h", "topic": "{office.place.dead}"')
        script = prologue + own.replace("curl ", "curl -sS -w '\\n%{http_code}' ", 1)
        done = subprocess.run(
            ["/bin/bash", "-c", script], cwd=folder, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        body, _, status = done.stdout.rpartition("\n")
        assert json.loads(body) is not None
        fine = ("200", "404") if "reason=paid" in line else ("200", "202")  # it may be out by then
        assert status in fine, f"{line}\n{done.stdout}"
