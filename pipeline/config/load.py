"""Loads the settings: a file, over it the environment, over that the flags."""

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from pipeline.config.checks import contradictions
from pipeline.config.environment import known_variables
from pipeline.config.file import settings_file
from pipeline.config.flags import from_flags
from pipeline.config.layers import layers
from pipeline.config.problems import Problem, problems_in, refusal
from pipeline.config.settings import Settings


def load_settings(
    path: Path | None = None,
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Return the settings, or raise one ConfigError that lists everything wrong with them.

    ``flags`` are given by path, such as ``{"publish.lanes": "2"}``. Without ``path`` the file is
    the one DUESTREAM_CONFIG names, else ./duestream.yaml or ./conf/duestream.yaml if there.
    """
    environ = os.environ if environ is None else environ
    known, in_variables = known_variables(environ)
    given, in_flags = from_flags(flags or {})
    problems = [*in_variables, *in_flags]
    with layers(settings_file(path, environ), known) as unread:
        try:
            settings = Settings(**given)
        except ValidationError as error:
            invalid = _beside(unread, problems_in(error, Settings))
            raise refusal([*problems, *unread, *invalid]) from None
    problems += [*unread, *contradictions(settings)]
    if problems:
        raise refusal(problems)
    return settings


def _beside(unread: list[Problem], invalid: list[Problem]) -> list[Problem]:
    """Leave out what is said of a secret's name because its value is not there."""
    paths = {problem.path for problem in unread}
    return [problem for problem in invalid if problem.path not in paths]
