"""The demo serves the console when it is asked to, and stays until it is told to end."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx

from tests.integration.running import wait_for


def test_the_demo_serves_a_console_with_data_in_it_until_ctrl_c(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pipeline.cli.main", "demo", "--ui", "--seconds", "6"]
    said = tmp_path / "said"
    with said.open("wb") as output:
        demo = subprocess.Popen(
            [*command, "--keep", str(tmp_path / "demo")],
            stdout=output,
            stderr=output,
            env=os.environ | {"COLUMNS": "200"},
            start_new_session=True,
        )
    try:
        wait_for(
            lambda: "the console stays at" in said.read_text() or demo.poll() is not None,
            "the demo to have played",
        )
        found = re.search(r"the console is at (http://\S+)", said.read_text())
        assert found, said.read_text()
        with httpx.Client(base_url=found[1], follow_redirects=True, timeout=60) as visiting:
            assert "reminder-00" in visiting.get("/messages", params={"status": "done"}).text
            assert "topic_not_allowed" in visiting.get("/dead-letters").text
        demo.send_signal(signal.SIGINT)
        assert demo.wait(120) == 0
        assert "duestream list" in said.read_text()
    finally:
        if demo.poll() is None:
            os.killpg(demo.pid, signal.SIGTERM)
            demo.wait(120)
