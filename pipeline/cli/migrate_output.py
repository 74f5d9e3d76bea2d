"""Writes what a migration found and did, for people and for programs."""

import json
from collections.abc import Iterator

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from pipeline.cli.as_table import console
from pipeline.migrate.fates import Fate
from pipeline.migrate.report import Output, Report
from pipeline.migrate.run import Imported, Wish

_TOPICS = 20  # output topics that are told one by one
_MEANS = {
    "pending": "their time is still to come",
    "overdue": "their time has passed, and nothing says that they are out",
    "sent": "the other scheduler says that they are out",
    "cancelled": "withdrawn",
    "replaced": "older versions of the same schedules",
    "unreadable": "records that the job would refuse",
    "asking": "they have commands or policies, for a running job",
}


def report_json(report: Report) -> str:
    """Return the report as one JSON object."""
    line = {
        "topic": report.topic,
        "dialect": report.dialect,
        "offsets": report.offsets,
        **report.figures(),
        "outputs": [output._asdict() for output in report.outputs],
        "unreadable_first": [unread._asdict() for unread in report.unread],
        "problems": list(report.problems()),
    }
    return json.dumps(line, ensure_ascii=False)


def print_report(report: Report) -> None:
    """Print tables, the first reasons, and what is to be mended."""
    out = console()
    out.print(_figures(report))
    if report.outputs:
        out.print(_outputs(report))
    for unread in report.unread:
        place = f"partition {unread.partition}, offset {unread.offset}"
        typer.echo(f"{place}: {unread.reason}: {unread.sentence}")
    more = report.fates[Fate.UNREADABLE] - len(report.unread)
    if more > 0:
        typer.echo(f"... and {more:,} more")
    problems = list(report.problems())
    for problem in problems:
        typer.secho(problem, fg="red")
    if not problems:
        typer.secho("all of it can be taken", fg="green")


def print_imported(imported: Imported, wish: Wish) -> None:
    """Say what was imported, what was not, and what to do next."""
    for sentence in imported_sentences(imported, wish):
        typer.echo(sentence)


def imported_sentences(imported: Imported, wish: Wish) -> Iterator[str]:
    """Yield them."""
    report, accepted = imported.report, imported.accepted
    if accepted is None:
        yield "nothing was imported; mend what is told above, or use --skip-unreadable"
        return
    wanted = report.waiting - sum(output.schedules for output in report.not_allowed)
    wanted -= report.fates[Fate.OVERDUE] if wish.skip_overdue else 0
    yield f"{accepted:,} schedules were imported, {max(wanted - accepted, 0):,} were known"
    if imported.ended:
        yield f"{imported.ended:,} that were known have been replaced or have ended since"
    if report.left_out:
        yield (
            f"{report.left_out:,} were left out as they cannot be taken; they are still on "
            f"{report.topic}"
        )
    if wish.skip_overdue and report.fates[Fate.OVERDUE]:
        yield f"{report.fates[Fate.OVERDUE]:,} were left out as they are overdue"
    yield (
        f"start the job with `duestream run`: whatever is on {report.topic} up to here counts as "
        "taken"
    )


def _figures(report: Report) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(f"{report.topic} ({report.dialect})")
    table.add_column("", justify="right")
    table.add_column("")
    for name, count in report.figures().items():
        table.add_row(name, f"{count:,}", Text(_MEANS[name], "dim"))
    return table


def _outputs(report: Report) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("output topic", overflow="fold")
    table.add_column("to be sent", justify="right")
    table.add_column("")
    for output in report.outputs[:_TOPICS]:
        table.add_row(Text(output.topic), f"{output.schedules:,}", Text(_lacks(output), "red"))
    rest = report.outputs[_TOPICS:]
    if rest:
        table.add_row(f"... {len(rest):,} more", f"{sum(each.schedules for each in rest):,}", "")
    return table


def _lacks(output: Output) -> str:
    lacks = [] if output.allowed else ["not in outputs.allow"]
    return ", ".join(lacks + ([] if output.exists else ["does not exist"]))
