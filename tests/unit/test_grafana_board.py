"""The dashboard is read by Grafana's own library: no field of it is unknown there."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.installed import installed
from pipeline.jvm import cache_folder
from pipeline.node import install_python_package

BOARD = Path(__file__).parents[2] / "conf/grafana/duestream.json"
LIBRARY = "grafana-foundation-sdk==1769699379!11.6.0"
# Reads a dashboard and writes it again: what the types of Grafana 11.6 do not know is not there.
THERE_AND_BACK = """
import json, sys
sys.path.insert(0, sys.argv[1])
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard
register_default_plugins()
print(JSONEncoder().encode(Dashboard.from_json(json.load(sys.stdin))))
"""
UNTYPED = ".definition"  # Grafana writes it for each variable; its types do not have it


@pytest.fixture(scope="module")
def library() -> Path:
    def install(folder: Path) -> None:
        install_python_package(LIBRARY, folder)

    return installed(cache_folder() / "grafana" / LIBRARY, f"installing {LIBRARY}", install)


def unknown(library: Path, board: Any) -> list[str]:
    """Return where a board has fields, or values, that Grafana does not take."""
    command = [sys.executable, "-S", "-c", THERE_AND_BACK, str(library)]
    done = subprocess.run(command, input=json.dumps(board), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = lost(board, json.loads(done.stdout))
    return [place for place in found if not place.endswith(UNTYPED)]


def lost(here: Any, there: Any, place: str = "") -> Iterator[str]:
    if isinstance(here, dict) and isinstance(there, dict):
        for name, value in here.items():
            yield from lost(value, there.get(name), f"{place}.{name}")
    elif isinstance(here, list) and isinstance(there, list) and len(here) == len(there):
        for number, pair in enumerate(zip(here, there, strict=True)):
            yield from lost(*pair, f"{place}[{number}]")
    elif here != there:
        yield place


def test_grafana_knows_every_field_of_the_dashboard(library: Path) -> None:
    assert unknown(library, json.loads(BOARD.read_text())) == []


def test_a_field_that_grafana_does_not_know_is_found(library: Path) -> None:
    board = json.loads(BOARD.read_text())
    panel = next(n for n, one in enumerate(board["panels"]) if one["type"] == "timeseries")
    board["panels"][panel]["options"]["legend"]["place"] = "bottom"
    board["panels"][panel]["targets"][0]["expression"] = "up"
    assert set(unknown(library, board)) == {
        f".panels[{panel}].targets[0].expression",
        f".panels[{panel}].options.legend.place",
    }
