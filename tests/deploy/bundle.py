"""Reads the bundle of conf/databricks as the Databricks CLI does: includes, names, variables."""

import json
import re
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[2] / "conf" / "databricks"
OF_ONE_DEVELOPER = (
    "dev_me_"  # what stands before the names of schemas where the mode is development
)


def read_bundle(target: str, **variables: str) -> dict[str, Any]:
    """Return the bundle with the values of ``target`` put in, but for those in ``variables``."""
    bundle = yaml.safe_load((FOLDER / "databricks.yml").read_text())
    resources: dict[str, Any] = {}
    for pattern in bundle["include"]:
        for file in sorted(FOLDER.glob(pattern)):
            for kind, named in yaml.safe_load(file.read_text())["resources"].items():
                resources.setdefault(kind, {}).update(named)
    if bundle["targets"][target]["mode"] == "development":
        for schema in resources["schemas"].values():
            schema["name"] = OF_ONE_DEVELOPER + schema["name"]
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
