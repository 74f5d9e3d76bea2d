"""Knows the environment variables of the settings, and refuses those that are none."""

import re
from collections.abc import Mapping

from pipeline.config.file import CONFIG_FILE
from pipeline.config.nearest import did_you_mean
from pipeline.config.places import KNOWN, Place, find
from pipeline.config.problems import Problem
from pipeline.config.settings import DELIMITER, PREFIX
from pipeline.config.texts import read_item, read_text
from state.crashpoint import CRASH_AT

_RESERVED = frozenset({CONFIG_FILE, "DUESTREAM_CACHE", CRASH_AT})
_TESTS = "DUESTREAM_TEST_"
# What Kubernetes tells every pod about services whose name begins like ours; a setting has two
# underscores between its steps.
_SERVICE = re.compile(
    r"DUESTREAM_(?!\w*__)(\w+_)?(SERVICE_HOST|SERVICE_PORT\w*|PORT(_\d+_(TCP|UDP|SCTP)(_PROTO|_PORT|_ADDR)?)?)"
)


def variable(path: str) -> str:
    """Return the name of the variable for the setting at ``path``."""
    return PREFIX + path.upper().replace(".", DELIMITER)


def known_variables(
    environ: Mapping[str, str],
) -> tuple[dict[str, str | None], list[Problem]]:
    """Return the variables that give settings, and what is wrong with the others.

    pydantic-settings passes over a misspelt variable in silence, and takes all names in one case:
    so they are returned with each setting named as its field is, and options of maps as given.
    """
    known: dict[str, str | None] = {}
    problems: list[Problem] = []
    for name in sorted(filter(_is_ours, environ)):
        place = find(_path(name))
        if place is None:
            advice = did_you_mean(name.upper(), map(variable, KNOWN))
            problems.append(Problem(name, f"no setting has this variable; {advice}"))
            continue
        try:
            known[PREFIX + DELIMITER.join(place.steps)] = _text(place, environ[name])
        except ValueError as error:
            problems.append(Problem(name, str(error)))
    return known, problems


def _text(place: Place, text: str) -> str | None:
    """Return the text that pydantic-settings takes, or raise ValueError when it cannot be read."""
    if place.name is not None:
        if place.setting.item:
            read_item(text)
        return text
    value = read_text(place.setting, text)
    if value == []:
        return "[]"  # an empty text would be passed on unread
    return None if value is None else text


def _is_ours(name: str) -> bool:
    other = name in _RESERVED or name.startswith(_TESTS) or _SERVICE.fullmatch(name)
    return name.startswith(PREFIX) and not other


def _path(name: str) -> str:
    """Return the path a variable stands for; what leads into a map keeps its case."""
    steps = name.removeprefix(PREFIX).split(DELIMITER)
    for depth in range(len(steps), 0, -1):
        path = ".".join(steps[:depth]).lower()
        if path in KNOWN:
            return ".".join([path, *steps[depth:]])
    return ".".join(steps).lower()
