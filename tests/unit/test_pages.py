"""The code on the pages: it can be read by those it is for, and links lead somewhere."""

import ast
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer
import yaml

from pipeline.cli.main import app
from pipeline.observe.catalogue import METRICS
from pipeline.reasons import Reason
from pipeline.reference.pages import pages
from pipeline.reference.table import table
from tests.pages import PAGES, ROOT, Block, all_blocks, commands

COMMANDS = typer.main.get_command(app)
LINK = re.compile(r"\]\(([^)#\s:]+)(?:#[^)\s]*)?\)")


def name(block: Block) -> str:
    return f"{block.page}:{block.line}"


@pytest.mark.parametrize("block", all_blocks("python", "py"), ids=name)
def test_python_compiles(block: Block) -> None:
    ast.parse(block.text)


@pytest.mark.parametrize("block", all_blocks("json", "yaml"), ids=name)
def test_json_and_yaml_can_be_read(block: Block) -> None:
    if block.language == "json":
        json.loads(block.text)
    else:
        list(yaml.safe_load_all(block.text))


def duestream_lines() -> list[tuple[str, str]]:
    found = [(name(b), line) for b in all_blocks("", "console", "sh", "bash", "shell")
             for line in commands(b.text)]  # fmt: skip
    return [(where, line) for where, line in found if line.startswith("duestream ")]


@pytest.mark.parametrize(("where", "line"), duestream_lines())
def test_every_command_on_a_page_is_one_that_exists(where: str, line: str) -> None:
    """Read it as the command line does, without doing it."""
    words = shlex.split(re.split(r" [|>&] ?", line)[0])[1:]
    command, context = COMMANDS, None
    while hasattr(command, "commands"):
        first, *words = words
        if first in ("--help", "-h"):
            return
        assert first in command.commands, f"{where}: {line}"
        command = command.commands[first]
    try:
        context = command.make_context("duestream", list(words))
    except Exception as error:
        pytest.fail(f"{where}: {line}: {error}")
    assert context is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    generated = {(ROOT / "docs" / place).resolve() for place in pages()}
    targets = [(page.parent / link).resolve() for link in LINK.findall(page.read_text("utf-8"))]
    assert [t for t in targets if not t.exists() and t not in generated] == []


def test_pages_from_the_code_name_all_there_is() -> None:
    written = pages()
    assert [r for r in Reason if f"`{r}`" not in written["reference/reasons.md"]] == []
    names = [n for metric in METRICS for n in (metric.name, *metric.prometheus_names)]
    assert [n for n in names if f"`{n}`" not in written["reference/metrics.md"]] == []
    assert "## `duestream dead resubmit`" in written["reference/cli.md"]
    assert "`--dry-run`" in written["reference/cli.md"]


def test_a_stroke_in_code_stays_as_it_is_and_others_end_no_cell() -> None:
    assert table(["a|b"], [["`x|y` or|and"]]).splitlines()[::2] == [
        "| a\\|b |",
        "| `x|y` or\\|and |",
    ]


def broken(page: Path) -> list[str]:
    """Return the links of a page of the site that lead to no file of it."""
    if page.name == "404.html":  # as a server answers, below any address
        return []
    links = re.findall(r'(?:href|src)="([^"#:]+)[^":]*"', page.read_text("utf-8"))
    return [link for link in links if not (page.parent / link).is_file()]


def test_the_site_is_built_and_fetches_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for page in tmp_path.rglob("*.html"):
        fetched = r"<(?:script|img|link)[^>]+(?:src|href)=\"(?:https?:)?//"
        assert re.findall(fetched, page.read_text("utf-8")) == [], page.name
        assert broken(page) == [], page.name
    for expected in ("tutorial", "security", "reference/cli", "reference/metrics", "changelog"):
        assert (tmp_path / f"{expected}.html").exists()
