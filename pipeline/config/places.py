"""Knows the path of every setting, and what a path leads to."""

from typing import NamedTuple

from pipeline.config.settings import Settings
from pipeline.config.tree import Setting, settings_of

# Items of a list have no path of their own: the list is given whole; so is a block in a map.
KNOWN: dict[str, Setting] = {
    setting.path: setting for setting in settings_of(Settings) if "[" not in setting.path
}


class Place(NamedTuple):
    """Where a value goes: a setting or, when that is a map, a name in there."""

    setting: Setting
    name: str | None

    @property
    def steps(self) -> list[str]:
        """The names that lead to it, from the outermost block."""
        steps = self.setting.path.split(".")
        return steps if self.name is None else [*steps, self.name]


def find(path: str) -> Place | None:
    """Return the place that ``path`` names."""
    if path in KNOWN:
        return Place(KNOWN[path], None)
    for setting in KNOWN.values():
        if setting.is_map and path.startswith(f"{setting.path}."):
            return Place(setting, path.removeprefix(f"{setting.path}."))
    return None
