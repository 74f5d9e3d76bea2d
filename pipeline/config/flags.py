"""Reads the settings that command-line flags give."""

from collections.abc import Iterable, Mapping
from typing import Any

from pipeline.config.nearest import did_you_mean
from pipeline.config.places import KNOWN, Place, find
from pipeline.config.problems import Problem
from pipeline.config.texts import read_item, read_text
from state.errors import ConfigError


def parse_flags(assignments: Iterable[str]) -> dict[str, object]:
    """Read ``path.to.setting=value`` texts; the last one for a path counts."""
    flags: dict[str, object] = {}
    for assignment in assignments:
        path, sign, value = assignment.partition("=")
        if not sign:
            raise ConfigError(f"--set {path}: has no value; write --set {path}=VALUE")
        flags[path.strip()] = value
    return flags


def from_flags(flags: Mapping[str, object]) -> tuple[dict[str, Any], list[Problem]]:
    """Return the settings given by path as a tree, and what is wrong with them."""
    tree: dict[str, Any] = {}
    problems: list[Problem] = []
    for path, value in flags.items():
        place = find(path)
        if place is None:
            problems.append(Problem(path, f"unknown setting; {did_you_mean(path, KNOWN)}"))
            continue
        try:
            _plant(tree, place, value)
        except ValueError as error:
            problems.append(Problem(path, str(error)))
    return tree, problems


def _plant(tree: dict[str, Any], place: Place, value: object) -> None:
    if isinstance(value, str):
        if place.name is None:
            value = read_text(place.setting, value)
        elif place.setting.item:
            value = read_item(value)
    *blocks, last = place.steps
    for step in blocks:
        tree = tree.setdefault(step, {})
    tree[last] = value
