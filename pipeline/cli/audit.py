"""The command that proves the ledger: ``audit``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.options import ConfigOption, JsonOption, SetOption, inspector_of, settings_of
from pipeline.clock import now_micros

if TYPE_CHECKING:
    from pyarrow import Table

    from pipeline.config.settings import Settings
    from pipeline.receipts import Matching
    from state.inspect import Inspector

TopicsOption = Annotated[
    bool, typer.Option("--topics", help="Read the output topics too, and match every receipt.")
]


def audit(
    topics: TopicsOption = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    assign: SetOption = None,
) -> None:
    """Prove that every accepted message is accounted for; exit code 1 if one is not."""
    now = now_micros()
    settings = settings_of(config, assign)
    inspector = inspector_of(settings)
    from pipeline.audit import audit_ledger

    counted, rows = audit_ledger(inspector, now)
    differences = list(counted.differences())
    matching, silent = None, 0
    if topics:
        from pipeline.receipts import differences as between
        from pipeline.receipts import without_receipt

        matching, silent = _match(inspector, rows, settings, now), without_receipt(rows)
        allowed = settings.publish.guarantee == "at_least_once"
        differences += between(matching, doubles_allowed=allowed)
    if as_json:
        from pipeline.cli.audit_output import audit_json

        typer.echo(audit_json(counted, matching, silent, differences))
    else:
        from pipeline.cli.audit_output import print_audit

        print_audit(counted, matching, silent, differences)
    if differences:
        raise typer.Exit(1)


def _match(inspector: Inspector, rows: Table, settings: Settings, now: int) -> Matching:
    from rich.console import Console
    from rich.progress import Progress

    from pipeline.audit_topics import match_topics

    screen = Console(stderr=True)
    with Progress(console=screen, transient=True, disable=not screen.is_terminal) as progress:
        task = progress.add_task("reading the output topics", total=None)

        def told(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        return match_topics(inspector, rows, settings, now, told)
