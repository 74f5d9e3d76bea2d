"""Sets the demo's stage: a broker, the topics, a settings file and the job as a process."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import yaml

from pipeline.config.found import SETTINGS_FILE
from pipeline.config.load import load_settings
from pipeline.config.settings import Settings
from pipeline.demo.script import OUTPUTS
from state.errors import DuestreamError

INPUT = "demo.schedules"
DEAD = "demo.dead-letters"
_READY = "running;"
_MARK = "name: demo\n"
_OURS = {SETTINGS_FILE, "checkpoint", "job.log", "mongo", "state"}


def clear(folder: Path) -> None:
    """Make a folder, or empty that of an earlier demo; DuestreamError if it is anything else's."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {entry.name for entry in folder.iterdir()}
    if found and not (found <= _OURS and _is_demos(folder / SETTINGS_FILE)):
        raise DuestreamError(
            f"--keep {folder}: the folder holds other things than an earlier demo; name an empty "
            "one, or one that does not exist yet"
        )
    for entry in folder.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    (folder / SETTINGS_FILE).write_text(_MARK, encoding="utf-8")  # also if nothing comes of it


def _is_demos(file: Path) -> bool:
    return file.is_file() and _MARK in file.read_text(encoding="utf-8", errors="replace")


def write_settings(folder: Path, bootstrap_servers: str, state: dict[str, object]) -> Path:
    """Write the settings of the demo's job; they stay for a look with the other commands."""
    file = folder / SETTINGS_FILE
    settings = {
        "name": "demo",
        "kafka": {"bootstrap_servers": bootstrap_servers},
        "sources": [{"topic": INPUT}],
        "outputs": {"allow": list(OUTPUTS)},
        "dead_letter": {"topic": DEAD},
        "pipeline": {"checkpoint": str(folder / "checkpoint")},
        "state": state,
    }
    file.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    return file


def settings_of(file: Path) -> Settings:
    """Read them back, untouched by the settings of the user's own environment."""
    return load_settings(file, environ={})


class JobProcess:
    """The job as ``duestream run`` starts it, with its log in a file."""

    def __init__(self, settings: Path, log: Path) -> None:
        self._log = log
        clean = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith("DUESTREAM_") or k == "DUESTREAM_CACHE"
        }
        with log.open("wb") as file:
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-m", "pipeline.cli.main", "run", "--config", str(settings)],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                env=clean,
                start_new_session=True,  # Ctrl-C is for the demo, which then ends the job
            )

    def ready(self) -> bool:
        """Tell whether the job has begun to tick; DuestreamError if it ended instead."""
        if self._process.poll() is not None:
            raise DuestreamError(f"the job ended: {self._last_words()}; its log is {self._log}")
        return _READY in self._log.read_text(encoding="utf-8", errors="replace")

    def stop(self) -> None:
        """End it as an operator would, and wait."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _last_words(self) -> str:
        lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"
