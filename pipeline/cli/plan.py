"""The command that tells what would become of an event: ``plan``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli.options import ConfigOption, JsonOption, SetOption, settings_of
from pipeline.clock import now_micros
from pipeline.instants import parse_instant
from pipeline.keys import key_bytes
from state.errors import ConfigError

FileArgument = Annotated[
    str, typer.Argument(help="A file with the event as JSON; - reads standard input.")
]
NowOption = Annotated[
    str | None, typer.Option("--now", help="As if it came at this instant: RFC 3339, +1h.")
]
KeyOption = Annotated[str | None, typer.Option("--key", help="The record's key; 0x... for bytes.")]


def plan(
    event: FileArgument,
    now: NowOption = None,
    key: KeyOption = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    assign: SetOption = None,
) -> None:
    """Tell what the job would make of an event; exit code 1 if it would refuse it."""
    present = now_micros()
    at = present if now is None else parse_instant(now, "--now", present)
    value, settings = _read(event), settings_of(config, assign)
    from pipeline.cli.plan_output import plan_json, print_plan
    from pipeline.planning.plan import NotTaken
    from pipeline.planning.plan import plan as planned_for

    name = None if key is None else key_bytes(key, "--key")
    planned = planned_for(value, settings, at, name)
    if as_json:
        typer.echo(plan_json(planned, name))
    else:
        print_plan(planned, name, at)
    if isinstance(planned, NotTaken):
        raise typer.Exit(1)


def _read(name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise ConfigError(f"EVENT: {name} cannot be read: {error.strerror}") from error
