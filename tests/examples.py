"""The examples: their events, and the command lines of their page, side by side."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "examples"
PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")
EVENTS = sorted(path.name for path in FOLDER.glob("*.json"))
SCRIPTS = sorted(path.name for path in FOLDER.glob("*.py"))


def event(name: str) -> dict[str, Any]:
    """Return an example as what it says."""
    said: dict[str, Any] = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return said


def command_lines() -> dict[str, list[str]]:
    """Return the arguments that send the same as each example, where the page has them."""
    lines: dict[str, list[str]] = {}
    for text, block in re.findall(r"(.*?)\n```\n(.*?)\n```\n", PAGE, flags=re.DOTALL):
        names = re.findall(r"\]\(([\w-]+\.json)\)", text)
        commands = [shlex.split(line) for line in block.replace("\\\n", "").splitlines()]
        sending = [words[1:] for words in commands if words[1] != "plan"]
        lines |= dict(zip(names, sending, strict=True))
    return lines
