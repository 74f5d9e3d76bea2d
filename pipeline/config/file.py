"""Finds and reads the settings file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from state.errors import ConfigError

CONFIG_FILE = "DUESTREAM_CONFIG"
_USUAL_PLACES = (Path("duestream.yaml"), Path("conf/duestream.yaml"))


def settings_file(path: Path | None, environ: Mapping[str, str]) -> Path | None:
    """Return the file to read, None when there is none and none was asked for."""
    if path is not None:
        return path
    if environ.get(CONFIG_FILE):
        return Path(environ[CONFIG_FILE])
    return next(filter(Path.is_file, _USUAL_PLACES), None)


def read_file(file: Path) -> dict[Any, Any]:
    """Return the settings in ``file``, as they stand there."""
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigError(f"the settings file {file} cannot be read: {reason}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"the settings file {file} is not YAML{_place(error)}") from error
    if not isinstance(content, dict | None):
        raise ConfigError(f"the settings file {file} holds no settings; write name: value lines")
    return content or {}


def _place(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return f": look at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
