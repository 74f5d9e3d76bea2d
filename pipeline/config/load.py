"""Loads the settings: a file, over it the environment, over that the flags."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from pipeline.config.checks import contradictions
from pipeline.config.environment import CONFIG_FILE, from_environment
from pipeline.config.flags import from_flags
from pipeline.config.problems import Problem, problems_in, refusal
from pipeline.config.settings import Settings
from pipeline.config.texts import merged
from state.errors import ConfigError

_USUAL_PLACES = (Path("duestream.yaml"), Path("conf/duestream.yaml"))


def load_settings(
    path: Path | None = None,
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Return the settings, or raise one ConfigError that lists everything wrong with them.

    ``flags`` are given by path, such as ``{"publish.lanes": "2"}``. Without ``path`` the file is
    the one DUESTREAM_CONFIG names, else ./duestream.yaml or ./conf/duestream.yaml if there.
    """
    variables = os.environ if environ is None else environ
    file = settings_file(path, variables)
    below = {} if file is None else _read(file)
    middle, in_variables = from_environment(variables)
    above, in_flags = from_flags(flags or {})
    return _checked(merged([below, middle, above]), [*in_variables, *in_flags])


def settings_file(path: Path | None, environ: Mapping[str, str]) -> Path | None:
    """Return the file to read, None when there is none and none was asked for."""
    if path is not None:
        return path
    if environ.get(CONFIG_FILE):
        return Path(environ[CONFIG_FILE])
    return next(filter(Path.is_file, _USUAL_PLACES), None)


def _read(file: Path) -> dict[str, Any]:
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


def _checked(values: dict[str, Any], problems: list[Problem]) -> Settings:
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        raise refusal([*problems, *problems_in(error, Settings)]) from None
    problems = [*problems, *contradictions(settings)]
    if problems:
        raise refusal(problems)
    return settings
