"""Turns settings given as texts, each under its path, into the tree that a file would hold."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import yaml

from pipeline.config.settings import Settings
from pipeline.config.tree import Setting, settings_of

# Items of a list have no path of their own: the list is given whole.
KNOWN: dict[str, Setting] = {
    setting.path: setting for setting in settings_of(Settings) if "[]" not in setting.path
}


class Place(NamedTuple):
    """Where a value goes: a setting or, when that is a map, a name in there."""

    setting: Setting
    name: str | None


def find(path: str) -> Place | None:
    """Return the place that ``path`` names."""
    if path in KNOWN:
        return Place(KNOWN[path], None)
    for setting in KNOWN.values():
        if setting.is_map and path.startswith(f"{setting.path}."):
            return Place(setting, path.removeprefix(f"{setting.path}."))
    return None


def plant(tree: dict[str, Any], place: Place, value: object) -> None:
    """Put ``value`` into ``tree``; a text is first read, with ValueError when it cannot be."""
    steps = place.setting.path.split(".")
    if place.name is not None:
        steps.append(place.name)
    elif isinstance(value, str):
        value = _read(place.setting, value)
    for step in steps[:-1]:
        tree = tree.setdefault(step, {})
    tree[steps[-1]] = value


def merged(layers: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Lay trees over one another: the later one wins, setting by setting."""
    result: dict[str, Any] = {}
    for layer in layers:
        for name, value in layer.items():
            below = result.get(name)
            both = isinstance(below, dict) and isinstance(value, dict)
            result[name] = merged([below, value]) if both else value  # type: ignore[list-item]
    return result


def _read(setting: Setting, text: str) -> Any:
    if setting.is_optional and text in ("", "null"):
        return None
    if setting.is_list:
        return _parsed(text, list) if text.startswith("[") else _by_comma(text)
    if setting.is_map or setting.block:
        return _parsed(text, dict)
    return text


def _by_comma(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def _parsed(text: str, kind: type) -> Any:
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        value = None
    if not isinstance(value, kind):
        # The parser's own message would repeat the text, and with it any secret.
        example = '["a", "b"]' if kind is list else '{"name": "value"}'
        raise ValueError(f"cannot be read; write it as JSON, such as {example}")
    return value
