"""Reads the settings that environment variables give."""

from collections.abc import Mapping
from typing import Any

from pipeline.config.nearest import did_you_mean
from pipeline.config.problems import Problem
from pipeline.config.texts import KNOWN, find, plant

PREFIX = "DUESTREAM_"
CONFIG_FILE = "DUESTREAM_CONFIG"
_RESERVED = frozenset({CONFIG_FILE, "DUESTREAM_CACHE"})
_TESTS = "DUESTREAM_TEST_"


def variable(path: str) -> str:
    """Return the name of the variable for the setting at ``path``."""
    return PREFIX + path.upper().replace(".", "__")


def from_environment(environ: Mapping[str, str]) -> tuple[dict[str, Any], list[Problem]]:
    """Return the settings found in ``environ`` as a tree, and what is wrong with them."""
    tree: dict[str, Any] = {}
    problems: list[Problem] = []
    for name in sorted(filter(_is_ours, environ)):
        place = find(_path(name))
        if place is None:
            advice = did_you_mean(name.upper(), map(variable, KNOWN))
            problems.append(Problem(name, f"no setting has this variable; {advice}"))
            continue
        try:
            plant(tree, place, environ[name])
        except ValueError as error:
            problems.append(Problem(name, str(error)))
    return tree, problems


def _is_ours(name: str) -> bool:
    return name.startswith(PREFIX) and name not in _RESERVED and not name.startswith(_TESTS)


def _path(name: str) -> str:
    """Return the path a variable stands for; what leads into a map keeps its case."""
    steps = name.removeprefix(PREFIX).split("__")
    for depth in range(len(steps), 0, -1):
        path = ".".join(steps[:depth]).lower()
        if path in KNOWN:
            return ".".join([path, *steps[depth:]])
    return ".".join(steps).lower()
