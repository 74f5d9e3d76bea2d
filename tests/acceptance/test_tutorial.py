"""The tutorial, done as it is written: its files, its commands and what they print, in order."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.broker_files import free_port
from tests.pages import ROOT, Block, blocks

PATIENCE = 240.0
PAGE = ROOT / "docs/tutorial.md"
STAYING = ("duestream kafka", "duestream run", "python watch.py")
LOOKING = ("list", "show", "dead", "audit", "stats")  # may be asked again until it is so


def fits(expected: list[str], text: str) -> bool:
    """Tell whether the expected lines are in a text, in order; ``...`` stands for anything."""
    patterns = [r"[^\n]*".join(map(re.escape, re.split(r"\s*\.\.\.\s*", e))) for e in expected]
    loose = [pattern.replace(r"\ ", r"\s+") for pattern in patterns]
    return re.search(r"[\s\S]*?".join(loose), text) is not None


class Reader:
    """Somebody who does what the page says, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.logs: dict[str, Path] = {}
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        kept = {k: v for k, v in os.environ.items() if not k.startswith("DUESTREAM_")}
        kept |= {k: v for k, v in os.environ.items() if k == "DUESTREAM_CACHE"}
        servers = {"DUESTREAM_KAFKA__BOOTSTRAP_SERVERS": f"127.0.0.1:{self.port}"}
        self.environment = kept | servers | {"PYTHONPATH": str(ROOT), "COLUMNS": "160"}

    def does(self, block: Block) -> None:
        if block.language in ("yaml", "python"):
            (self.folder / block.title).write_text(block.text)
            return
        parts = re.split(r"^\$ ", block.text, flags=re.M)
        self.sees(block.title, parts[0].splitlines())
        for part in parts[1:]:
            command, *expected = part.splitlines()
            if command in STAYING:
                self.starts(block.title, command)
                self.sees(block.title, [line.replace("9092", str(self.port)) for line in expected])
            else:
                self.runs(command, expected)

    def starts(self, terminal: str, command: str) -> None:
        words = self.words(command)
        if command == "duestream kafka":
            words += ["--port", str(self.port)]
        self.logs[terminal] = self.folder / f"{terminal}.log"
        with self.logs[terminal].open("wb") as log:
            self.running[terminal] = subprocess.Popen(
                words, cwd=self.folder, env=self.environment, stdout=log, stderr=log
            )

    def sees(self, terminal: str, expected: list[str]) -> None:
        give_up = time.monotonic() + PATIENCE
        while expected and not fits(expected, self.log(terminal)):
            assert self.running[terminal].poll() is None, self.log(terminal)
            assert time.monotonic() < give_up, f"{expected} not in:\n{self.log(terminal)}"
            time.sleep(0.2)

    def log(self, terminal: str) -> str:
        return self.logs[terminal].read_text(errors="replace")

    def runs(self, command: str, expected: list[str]) -> None:
        words = self.words(command)
        again = command.split()[1] in LOOKING
        give_up = time.monotonic() + PATIENCE
        while True:
            done = subprocess.run(
                words, cwd=self.folder, env=self.environment, capture_output=True, text=True
            )
            if done.returncode == 0 and fits(expected, done.stdout):
                return
            assert again and time.monotonic() < give_up, f"{command}:\n{done.stdout}{done.stderr}"

    def words(self, command: str) -> list[str]:
        program, *rest = shlex.split(command)
        module = ["-m", "pipeline.cli.main"] if program == "duestream" else []
        return [sys.executable, *module, *rest]

    def leaves(self) -> dict[str, int]:
        """End what runs, the last started first, and return how each ended."""
        codes = {}
        for terminal, process in reversed(self.running.items()):
            process.send_signal(signal.SIGTERM)
            codes[terminal] = process.wait(PATIENCE)
        return codes


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    made = Reader(tmp_path)
    yield made
    for process in made.running.values():
        if process.poll() is None:
            process.kill()
        process.wait()


def test_the_tutorial_does_what_it_says(reader: Reader) -> None:
    done = [block for block in blocks(PAGE) if block.title]
    assert len(done) > 12
    for block in done:
        reader.does(block)
    codes = reader.leaves()
    assert (codes["Terminal 2"], codes["Terminal 1"]) == (0, 0), reader.log("Terminal 2")
    assert reader.log("Terminal 3").splitlines().count("ada says call Ada") == 1
    assert "call Eve" not in reader.log("Terminal 3")
