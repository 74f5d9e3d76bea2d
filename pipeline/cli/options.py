"""The options that every command takes, and the settings they lead to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.lean import without_pandas

if TYPE_CHECKING:
    from pipeline.config.settings import Settings
    from state.inspect import Inspector

ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="The settings file.", metavar="FILE")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="One setting; as often as needed.", metavar="PATH.TO.SETTING=VALUE"),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def settings_of(config: Path | None, assignments: list[str] | None) -> Settings:
    """Load the settings with the flags of one command."""
    from pipeline.config.flags import parse_flags
    from pipeline.config.load import load_settings

    return load_settings(config, parse_flags(assignments or []))


def inspector_of(settings: Settings) -> Inspector:
    """Open the state for reading."""
    with without_pandas():
        from state.open import open_inspector

    return open_inspector(settings.state)
