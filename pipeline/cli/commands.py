"""The command that lists the commands given: ``commands``."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.options import ConfigOption, JsonOption, SetOption, inspector_of, settings_of
from pipeline.clock import exact_text, instant_text
from pipeline.keys import key_bytes, key_text

if TYPE_CHECKING:
    from rich.table import Table

    from pipeline.remembered import Remembered

KeyArgument = Annotated[str | None, typer.Argument(help="Only about this key; 0x... for bytes.")]
LimitOption = Annotated[int, typer.Option("--limit", min=1, help="At most this many.")]
_COLUMNS = ("when", "about", "what", "effect", "who", "why")


def commands(
    key: KeyArgument = None,
    limit: LimitOption = 50,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    assign: SetOption = None,
) -> None:
    """List the commands that were given, who gave them and what they did; the newest first."""
    inspector = inspector_of(settings_of(config, assign))
    from pipeline.remembered import remembered

    found = remembered(inspector, None if key is None else key_bytes(key))
    _print(found[:limit], as_json)
    if len(found) > limit:
        typer.secho(f"There are more; --limit shows more than {limit}.", fg="yellow", err=True)


def _print(found: list[Remembered], as_json: bool) -> None:
    if as_json:
        for one in found:
            typer.echo(_line(one))
    elif found:
        from pipeline.cli.as_table import console

        console().print(_table(found))
    else:
        typer.echo("Nothing found.")


def _line(one: Remembered) -> str:
    line = asdict(one) | {"when": exact_text(one.when), "key": key_text(one.key)}
    return json.dumps(line, ensure_ascii=False)


def _table(found: list[Remembered]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in _COLUMNS:
        table.add_column(name, overflow="fold", no_wrap=name in ("when", "what", "effect"))
    for one in found:
        cells = (one.what, one.effect, one.who, one.why)
        table.add_row(instant_text(one.when), Text(about(one)), *(Text(cell) for cell in cells))
    return table


def about(one: Remembered) -> str:
    """Return what a command was about: its key, unless it was given for more."""
    if one.scope == "topic":
        return f"topic {one.topic}"
    return "everything" if one.scope == "all" else key_text(one.key)
