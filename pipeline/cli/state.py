"""The commands for the state as a whole: ``state init`` and ``state copy``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pipeline.cli.options import ConfigOption, SetOption, settings_of
from pipeline.clock import now_micros
from state.errors import ConfigError

if TYPE_CHECKING:
    from state.copying import Figure, Told
    from state.settings import StateSettings

app = typer.Typer(help="Make the state, or copy it to another store.", no_args_is_help=True)

Stored = Literal["delta", "mongo"]
FromOption = Annotated[Stored, typer.Option("--from", help="The store that has the state.")]
ToOption = Annotated[Stored, typer.Option("--to", help="The store that is to have it.")]

_STEP = 10  # percent between two lines where there is no terminal


@app.command()
def init(config: ConfigOption = None, assign: SetOption = None) -> None:
    """Make the tables or collections of the state; what is there stays as it is."""
    settings = settings_of(config, assign).state
    from state.open import make_state

    made = make_state(settings)
    parts = "tables" if settings.kind == "delta" else "collections and indexes"
    typer.echo(f"made the {parts}" if made.new else f"the {parts} were there")
    typer.echo(f"the state {made.state_id} in {made.place} is ready")


@app.command()
def copy(
    source: FromOption, target: ToOption, config: ConfigOption = None, assign: SetOption = None
) -> None:
    """Copy the whole state of a stopped job to another store, or go on with a copy."""
    if source == target:
        raise ConfigError("--from, --to: name two different stores, delta and mongo")
    settings = settings_of(config, assign).state
    there = settings.model_copy(update={"kind": source})
    here = settings.model_copy(update={"kind": target})
    state_id, found = _copy(there, here)
    _print(found, source, target)
    if any(figure.source != figure.target for figure in found):
        typer.secho("the copy is not like its source; do not use it", fg="red", err=True)
        raise typer.Exit(1)
    typer.secho(
        f"the state {state_id} is copied; set state.kind to {target} and start the job", fg="green"
    )


def _copy(there: StateSettings, here: StateSettings) -> tuple[str, list[Figure]]:
    from state.copying import copy as copy_state
    from state.copying import figures
    from state.open import open_source, open_target

    now = now_micros()
    source = open_source(there)
    try:
        target = open_target(here, now)
        try:
            with _progress() as told:
                copy_state(source, target, now, told)
        finally:
            target.close()
        copied = open_source(here)
        try:
            return copied.standing().state_id, figures(source, copied)
        finally:
            copied.close()
    finally:
        source.close()


@contextmanager
def _progress() -> Iterator[Told]:
    from rich.console import Console
    from rich.progress import Progress

    screen = Console(stderr=True)
    if not screen.is_terminal:
        yield _in_lines()
        return
    with Progress(console=screen, transient=True) as progress:
        task = progress.add_task("copying rows", total=None)

        def told(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        yield told


def _in_lines() -> Told:
    last = -_STEP

    def told(done: int, total: int) -> None:
        nonlocal last
        percent = 100 if total == 0 else done * 100 // total
        if percent >= last + _STEP or (done == total and percent > last):
            last = percent
            typer.echo(f"{done:,} of {total:,} rows are copied", err=True)

    return told


def _print(found: list[Figure], source: str, target: str) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from pipeline.cli.as_table import console

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("", source, target):
        table.add_column(name, justify="left" if not name else "right")
    for name, before, after in found:
        style = "" if before == after else "red"
        table.add_row(name, *(Text(_written(value), style) for value in (before, after)))
    console().print(table)


def _written(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
