"""Finds the settings of a state to look into, where nobody has named any: those of the demo."""

import os
from collections.abc import Mapping
from pathlib import Path

from pipeline.config.environment import variable
from pipeline.config.file import CONFIG_FILE
from pipeline.config.load import load_settings
from pipeline.config.settings import Settings

DEMO = Path("data/demo")  # where ``make demo`` leaves its state and its settings
SETTINGS_FILE = "duestream.yaml"


def find_settings(
    path: str | Path | None = None,
    tables: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Return the settings in ``path``, else those of the environment, else those of the demo.

    The environment counts if it names a file (DUESTREAM_CONFIG) or a setting of the state
    (DUESTREAM_STATE__...). The demo's are looked for from the working folder and the one above,
    so a notebook finds them from where it lies. ConfigError as from ``load_settings``.

    ``tables`` is the schema of Spark's catalog that has the state's tables, such as
    ``main.duestream``; they are then found by name, whatever path the settings name. An empty
    text, such as that of a widget not filled in, counts as None.
    """
    environ = os.environ if environ is None else environ
    if path is not None or tables:
        file = None if path is None else Path(path)
        return load_settings(file, _by_name(tables), environ)
    named = [name for name in environ if name.startswith((CONFIG_FILE, variable("state") + "__"))]
    left = [place / DEMO / SETTINGS_FILE for place in (Path(), Path(".."))]
    demo = next(filter(Path.is_file, left), None)
    if named or demo is None:
        return load_settings(environ=environ)
    return load_settings(demo, environ={})


def _by_name(tables: str | None) -> dict[str, object]:
    if not tables:
        return {}
    place = {"state.delta.path": None, "state.delta.catalog_schema": tables}
    return {"state.kind": "delta", **place}
