"""Reads the bundle of conf/databricks as the Databricks CLI does: includes, then variables."""

import json
import re
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[2] / "conf" / "databricks"


def read_bundle(target: str, **variables: str) -> dict[str, Any]:
    """Return the bundle with the values of ``target`` put in, but for those in ``variables``."""
    bundle = yaml.safe_load((FOLDER / "databricks.yml").read_text())
    resources: dict[str, Any] = {}
    for pattern in bundle["include"]:
        for file in sorted(FOLDER.glob(pattern)):
            for kind, named in yaml.safe_load(file.read_text())["resources"].items():
                resources.setdefault(kind, {}).update(named)
    values = {name: each.get("default") for name, each in bundle["variables"].items()}
    values |= bundle["targets"][target]["variables"] | variables
    place = {
        "bundle": {"name": bundle["bundle"]["name"], "target": target},
        "var": values,
        "resources": resources,
    }
    return bundle | {"resources": _filled(resources, place)}


def _filled(resources: dict[str, Any], place: dict[str, Any]) -> Any:
    text = json.dumps(resources)
    while (found := re.search(r"\$\{([\w.]+)\}", text)) is not None:
        value: Any = place
        for step in found[1].split("."):
            value = value[step]  # a name that nobody has set is a KeyError
        text = text.replace(found[0], str(value))
    return json.loads(text)
