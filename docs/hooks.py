"""What the site has besides the pages in this folder: pages from the code, and linked files."""

import os
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path.insert(0, str(ROOT))

from pipeline.reference.pages import pages  # noqa: E402

LINK = re.compile(r"(\]\()([^)#\s:]+)((?:#[^)\s]*)?\))")
HOME = {"README.md": "index.md", "CHANGELOG.md": "changelog.md"}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Write out the names with * in the navigation."""
    config.nav = _written_out(config.nav, _named(config.nav))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is written from the code, the changelog, and what pages link to outside of docs."""
    for name, text in pages().items():
        files.append(File.generated(config, name, content=text))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "changelog.md", content=changes))
    for path in sorted(_linked()):
        name = f"files/{path.relative_to(ROOT).as_posix()}"
        files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links that leave docs to where the site has those files."""
    here = page.file.src_uri
    folder = (DOCS / here).parent if here != "changelog.md" else ROOT
    if here.startswith("files/"):
        folder = (ROOT / here.removeprefix("files/")).parent
    return LINK.sub(lambda found: _led(found, folder, here), markdown)


def _led(found: re.Match[str], folder: Path, here: str) -> str:
    target = (folder / found[2]).resolve()
    if target.is_relative_to(DOCS):
        name = target.relative_to(DOCS).as_posix()
    elif target.is_relative_to(ROOT) and target.is_file():
        outside = target.relative_to(ROOT).as_posix()
        name = HOME.get(outside, f"files/{outside}")
    else:
        return found[0]  # not there: the check of links says so
    return f"{found[1]}{os.path.relpath(name, Path(here).parent)}{found[3]}"


def _linked() -> set[Path]:
    """Return the files outside of docs that its pages link to, and those beside a page of these."""
    found: set[Path] = set()
    for page in DOCS.rglob("*.md"):
        targets = (
            (page.parent / link[2]).resolve() for link in LINK.finditer(page.read_text("utf-8"))
        )
        found |= {each for each in targets if each.is_file() and not each.is_relative_to(DOCS)}
    readmes = [path for path in found if path.suffix == ".md" and path.parent != ROOT]
    beside = {each for path in readmes for each in path.parent.iterdir() if each.is_file()}
    return {each for each in found | beside if each.relative_to(ROOT).as_posix() not in HOME}


def _named(nav: Any) -> set[str]:
    if isinstance(nav, str):
        return {nav}
    inner = nav.values() if isinstance(nav, dict) else nav or []
    return {name for each in inner for name in _named(each)}


def _written_out(nav: Any, named: set[str]) -> Any:
    if isinstance(nav, dict):
        return {title: _written_out(inner, named) for title, inner in nav.items()}
    if not isinstance(nav, list):
        return nav
    out: list[Any] = []
    for item in nav:
        if isinstance(item, str) and "*" in item:
            there = {path.relative_to(DOCS).as_posix() for path in DOCS.glob(item)}
            out += sorted(there - named)
        else:
            out.append(_written_out(item, named))
    return out
