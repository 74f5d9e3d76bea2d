"""Writes dead rows, for people and for programs."""

from collections.abc import Iterable
from typing import Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from pipeline.as_json import row_json
from pipeline.cli.as_table import console
from pipeline.clock import instant_text
from pipeline.keys import key_text
from state.row import ATTEMPT, CHANGED_AT, DETAIL, KEY, KIND, REASON

_DETAIL_SHOWN = 60


def print_dead(rows: list[dict[str, Any]], as_json: bool) -> None:
    """Print a line for each row."""
    if as_json:
        for row in rows:
            typer.echo(row_json(row))
    elif rows:
        console().print(_dead_table(rows))
    else:
        typer.echo("Nothing found.")


def _dead_table(rows: Iterable[dict[str, Any]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("key", overflow="fold", ratio=2)
    for name in ("kind", "reason", "when"):
        table.add_column(name, no_wrap=True)
    table.add_column("attempts", justify="right")
    table.add_column("detail", overflow="fold", ratio=3)
    for row in rows:
        when = instant_text(row[CHANGED_AT])
        cells = (Text(key_text(row[KEY])), row[KIND], Text(row[REASON] or ""), when)
        table.add_row(*cells, str(row[ATTEMPT] or 0), Text(_shortened(row[DETAIL] or "")))
    return table


def _shortened(detail: str) -> str:
    return detail if len(detail) <= _DETAIL_SHOWN else f"{detail[: _DETAIL_SHOWN - 3]}..."
