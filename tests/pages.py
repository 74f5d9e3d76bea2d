"""The pages people read, and the blocks of code in them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "examples/README.md", *(ROOT / "docs").rglob("*.md")])
_BLOCK = re.compile(r"^( *)```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^\1```$", re.M | re.S)


class Block(NamedTuple):
    """Some lines of code on a page."""

    page: str
    line: int
    language: str
    title: str
    text: str


def blocks(path: Path) -> Iterator[Block]:
    """Yield the blocks of a page in their order."""
    page = path.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(page):
        indent, language, title, text = found.groups()
        lines = [line.removeprefix(indent) for line in text.splitlines(keepends=True)]
        line = page.count("\n", 0, found.start()) + 1
        yield Block(str(path.relative_to(ROOT)), line, language, title or "", "".join(lines))


def all_blocks(*languages: str) -> list[Block]:
    """Return the blocks of all pages that are in one of these languages."""
    return [one for path in PAGES for one in blocks(path) if one.language in languages]


def commands(text: str) -> Iterator[str]:
    """Yield the commands in a block: all lines, or those behind a ``$`` if there are any."""
    lines = text.replace("\\\n", " ").splitlines()
    told = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    yield from (line.split("  #")[0].strip() for line in told or lines)
