"""Which settings are found where nobody has named any, and what a demo may clear away."""

from pathlib import Path

import pytest

from pipeline.client import find_settings
from pipeline.demo.stage import clear, write_settings
from state.errors import ConfigError, DuestreamError


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a demo, with the working folder beside it as notebooks are."""
    folder = tmp_path / "data" / "demo"
    clear(folder)
    write_settings(folder, "127.0.0.1:1", {"delta": {"path": str(folder / "state")}})
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")
    return folder


def test_what_the_demo_left_is_found_from_beside_it(demo: Path) -> None:
    assert find_settings(environ={}).state.delta.path == str(demo / "state")


def test_the_environment_and_a_named_file_win_over_the_demo(demo: Path, tmp_path: Path) -> None:
    told = {"DUESTREAM_STATE__DELTA__PATH": "s3://bucket/state"}
    assert find_settings(environ=told).state.delta.path == "s3://bucket/state"
    other = tmp_path / "other.yaml"
    other.write_text("state: {delta: {path: elsewhere}}\n")
    assert find_settings(other, environ={}).state.delta.path == "elsewhere"
    named = {"DUESTREAM_CONFIG": str(other)}
    assert find_settings(environ=named).state.delta.path == "elsewhere"


def test_names_of_tables_win_over_every_path(demo: Path) -> None:
    told = {
        "DUESTREAM_STATE__DELTA__PATH": "s3://bucket/state",
        "DUESTREAM_STATE__DELTA__STORAGE_OPTIONS__AWS_REGION": "eu-central-1",
    }
    for file, environ in ((None, {}), (None, told), (demo / "duestream.yaml", told)):
        found = find_settings(file, "main.duestream", environ).state.delta
        assert (found.path, found.catalog_schema) == (None, "main.duestream")
        assert len(found.storage_options) == (1 if environ else 0)
    assert find_settings(None, "", {}).state.delta.path == str(demo / "state")  # an empty widget


def test_what_is_no_schema_is_refused(demo: Path) -> None:
    with pytest.raises(ConfigError, match=r"state\.delta\.catalog_schema"):
        find_settings(tables="main.duestream.schedules", environ={})


def test_a_demo_clears_what_the_last_one_left(demo: Path) -> None:
    (demo / "state").mkdir()
    clear(demo)
    assert [entry.name for entry in demo.iterdir()] == ["duestream.yaml"]


@pytest.mark.parametrize("name", ["state", "letters.txt", "duestream.yaml"])
def test_a_demo_clears_nothing_else(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("name: production\n")
    with pytest.raises(DuestreamError, match="holds other things than an earlier demo"):
        clear(tmp_path)
    assert (tmp_path / name).exists()
