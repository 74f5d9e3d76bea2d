"""The dashboard and the alert rules speak of metrics that there are."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from pipeline.observe.catalogue import METRICS
from tests.fetched import fetched

ROOT = Path(__file__).parents[2]
ALERTS = ROOT / "conf/prometheus/alerts.yaml"
SCRAPE = ROOT / "conf/prometheus/prometheus.yml"
BOARD = ROOT / "conf/grafana/duestream.json"
KNOWN = {name for metric in METRICS for name in metric.prometheus_names}
LABELS = {name for metric in METRICS for name in metric.attributes} | {"le", "instance", "job"}


def rules() -> list[dict]:
    return [
        rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]
    ]


def panels() -> list[dict]:
    return [panel for panel in json.loads(BOARD.read_text())["panels"] if panel["type"] != "row"]


def expressions() -> Iterator[tuple[str, str]]:
    for rule in rules():
        yield rule["alert"], rule["expr"]
    for panel in panels():
        for target in panel["targets"]:
            yield panel["title"], target["expr"]
    for variable in json.loads(BOARD.read_text())["templating"]["list"][1:]:
        yield variable["name"], variable["query"]["query"]


@pytest.mark.parametrize(("where", "expression"), list(expressions()))
def test_every_metric_and_label_that_is_named_is_in_the_catalogue(
    where: str, expression: str
) -> None:
    named = set(re.findall(r"\bduestream_\w+", expression))
    assert named <= KNOWN, where
    assert named or expression.startswith("up{"), where
    grouped = re.findall(r"by \(([\w, ]+)\)", expression)
    assert {label for some in grouped for label in some.split(", ")} <= LABELS, where


def test_the_dashboard_shows_every_metric() -> None:
    shown = {n for _, e in expressions() for n in re.findall(r"\bduestream_\w+", e)}
    hidden = [m.name for m in METRICS if not shown & set(m.prometheus_names)]
    assert hidden == []


def test_panels_lie_side_by_side_and_have_numbers_of_their_own() -> None:
    board = json.loads(BOARD.read_text())
    cells = [
        (x, y)
        for panel in board["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])


def test_every_alert_says_how_bad_it_is_and_what_to_look_at() -> None:
    for rule in rules():
        assert rule["labels"]["severity"] in ("warning", "critical"), rule["alert"]
        assert rule["annotations"].keys() == {"summary", "description"}, rule["alert"]


def test_every_alert_is_explained_on_the_page() -> None:
    page = (ROOT / "docs/observe.md").read_text()
    assert [rule["alert"] for rule in rules() if rule["alert"] not in page] == []


def test_prometheus_scrapes_the_port_that_the_docs_name() -> None:
    [job] = yaml.safe_load(SCRAPE.read_text())["scrape_configs"]
    assert job["static_configs"] == [{"targets": ["localhost:9464"]}]


@pytest.mark.parametrize(
    "check",
    [
        ["check", "rules", str(ALERTS)],
        ["check", "config", str(SCRAPE)],
        ["test", "rules", str(Path(__file__).with_name("alerts.test.yaml"))],
    ],
    ids=lambda check: " ".join(check[:2]),
)
def test_promtool_agrees(check: list[str]) -> None:
    promtool = shutil.which("promtool") or fetched("promtool", "usr/bin/promtool")
    done = subprocess.run([promtool, *check], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
