"""Prints all that is known of some versions, for people and for programs."""

from typing import Any

import typer

from pipeline.as_json import row_json
from pipeline.cli.as_table import console, version_table


def print_versions(rows: list[dict[str, Any]], now: int, as_json: bool) -> None:
    """Print each row: one below the other, or as a line of JSON."""
    if as_json:
        for row in rows:
            typer.echo(row_json(row))
        return
    out = console()
    for number, row in enumerate(rows):
        out.print(*([""] if number else []), version_table(row, now), sep="\n")
