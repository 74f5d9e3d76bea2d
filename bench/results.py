"""Keeps what was measured in a file: written after each scenario, added to at the same commit."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.machine import commit, machine, versions
from bench.scenarios import SCENARIOS

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "docs" / "assets" / "bench" / "results.json"
AGAIN = FILE.with_name("again.json")  # what was measured once more, beside the first time
SEED = 7
_ORDER = [scenario.name for scenario in SCENARIOS]


class Missing(Exception):
    """A figure that was not measured."""


class Results:
    """All figures, by store and scenario."""

    def __init__(self, content: dict[str, Any], file: Path = FILE) -> None:
        self.content = content
        self._file = file

    @classmethod
    def read(cls, file: Path = FILE) -> "Results":
        """Return what a file holds."""
        return cls(json.loads(file.read_text()), file)

    @classmethod
    def begin(cls, file: Path = FILE) -> "Results":
        """Go on with what is there of the same commit, else begin anew."""
        head = {"commit": commit(), "seed": SEED, "machine": machine(), "versions": versions()}
        if file.exists():
            found = cls.read(file)
            if all(found.content.get(name) == value for name, value in head.items()):
                return found
        return cls(head | {"raw": {}, "scenarios": {}}, file)

    def write(self) -> None:
        """Write the file whole, or leave it as it was."""
        file = self._file
        self.content["date"] = datetime.now(UTC).isoformat(timespec="seconds")
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_suffix(".new")
        new.write_text(_lines(self.content))
        new.replace(file)

    def put(self, store: str, name: str, figures: dict[str, Any]) -> None:
        """Add a scenario, in place of an earlier one of this name."""
        self.content["scenarios"].setdefault(store, {})[name] = figures

    def scenarios(self, store: str) -> dict[str, Any]:
        """Return all scenarios of a store that were measured, in the order of their list."""
        found: dict[str, Any] = self.content["scenarios"].get(store, {})
        return {name: found[name] for name in sorted(found, key=_place)}

    def figure(self, store: str, scenario: str, *path: str) -> float:
        """Return one figure; Missing if it was not measured."""
        found: Any = self.scenarios(store).get(scenario)
        for name in path:
            found = found.get(name) if isinstance(found, dict) else None
        if not isinstance(found, int | float):
            raise Missing(f"{scenario}: {'.'.join(path)}")
        return found


def _place(name: str) -> int:
    return _ORDER.index(name) if name in _ORDER else len(_ORDER)


def _lines(content: dict[str, Any]) -> str:
    """Write JSON with one line for each second of a series: it is read in a diff, too."""
    text = json.dumps(content, indent=1)
    return re.sub(r"\[[^\[\]{}]+\]", lambda found: " ".join(found[0].split()), text) + "\n"
