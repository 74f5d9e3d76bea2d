"""The notebooks as they are committed: clean, and made of public names only."""

import ast
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

import pipeline.client
import state.inspect

FOLDER = Path(__file__).parents[2] / "notebooks"
FILES = sorted(FOLDER.glob("*.ipynb"))
MAY_USE = {module.__name__: module for module in (pipeline.client, state.inspect)}
OURS = ("pipeline", "state")


@pytest.fixture(params=FILES, ids=lambda file: file.stem)
def notebook(request: pytest.FixtureRequest) -> Any:
    return nbformat.read(request.param, as_version=4)


def code_of(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_there_are_four() -> None:
    assert [file.stem[:2] for file in FILES] == ["01", "02", "03", "04"]


def test_none_has_outputs_or_numbers_of_execution(notebook: Any) -> None:
    nbformat.validate(notebook)
    for cell in code_of(notebook):
        assert cell.outputs == []
        assert cell.execution_count is None


def test_each_uses_public_names_of_two_modules_and_no_others(notebook: Any) -> None:
    imported = []
    for cell in code_of(notebook):
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.Import):
                assert not [n.name for n in node.names if n.name.split(".")[0] in OURS]
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in OURS:
                imported += [(str(node.module), name.name) for name in node.names]
            if isinstance(node, ast.Attribute):
                assert not re.match(r"_[a-z]", node.attr), node.attr
    assert {module for module, _ in imported} == MAY_USE.keys()
    for module, name in imported:
        assert name in MAY_USE[module].__all__


def test_each_begins_with_where_the_state_is(notebook: Any) -> None:
    first = notebook.cells[0]
    assert first.cell_type == "markdown"
    assert "Where the state is" in first.source
    assert "On Databricks" in first.source and "TABLES" in first.source
    assert "find_settings(CONFIG, TABLES)" in code_of(notebook)[0].source
