"""The notebooks as they are committed: clean, and made of public names only."""

import ast
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

FOLDER = Path(__file__).parents[2] / "notebooks"
FILES = sorted(FOLDER.glob("*.ipynb"))
MAY_USE = {
    "pipeline.client",
    "pipeline.clock",
    "pipeline.config.found",
    "pipeline.dead",
    "pipeline.reasons",
    "pipeline.resubmit",
    "state.inspect",
    "state.open",
    "state.row",
}


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


def test_none_uses_a_private_name_or_the_inside_of_a_store(notebook: Any) -> None:
    for cell in code_of(notebook):
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
                ("pipeline", "state")
            ):
                assert node.module in MAY_USE
                assert not any(name.name.startswith("_") for name in node.names)
            if isinstance(node, ast.Attribute):
                assert not re.match(r"_[a-z]", node.attr), node.attr


def test_each_begins_with_where_the_state_is(notebook: Any) -> None:
    first = notebook.cells[0]
    assert first.cell_type == "markdown"
    assert "Where the state is" in first.source
    assert "Databricks" in first.source
    assert "find_settings" in code_of(notebook)[0].source
