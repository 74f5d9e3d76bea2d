"""Sets the demo's stage: an empty folder, and the settings file in it."""

import shutil
from pathlib import Path

import yaml

from pipeline.config.found import SETTINGS_FILE
from pipeline.config.load import load_settings
from pipeline.config.settings import Settings
from pipeline.demo.script import OUTPUTS
from state.errors import DuestreamError

INPUT = "demo.schedules"
DEAD = "demo.dead-letters"
_MARK = "name: demo\n"
_OURS = {SETTINGS_FILE, "checkpoint", "console.log", "job.log", "mongo", "state"}


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


def write_settings(
    folder: Path,
    bootstrap_servers: str,
    state: dict[str, object],
    metrics_port: int | None = None,
) -> Path:
    """Write the settings of the demo's job; they stay for a look with the other commands."""
    file = folder / SETTINGS_FILE
    settings: dict[str, object] = {
        "name": "demo",
        "kafka": {"bootstrap_servers": bootstrap_servers},
        "sources": [{"topic": INPUT}],
        "outputs": {"allow": list(OUTPUTS)},
        "dead_letter": {"topic": DEAD},
        "pipeline": {"checkpoint": str(folder / "checkpoint")},
        "state": state,
    }
    if metrics_port is not None:
        settings["metrics"] = {"port": metrics_port}
    file.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    return file


def settings_of(file: Path) -> Settings:
    """Read them back, untouched by the settings of the user's own environment."""
    return load_settings(file, environ={})
