"""The commands to take over the topic of another scheduler: ``migrate check``, ``migrate run``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.extras import extras_told
from pipeline.cli.options import ConfigOption, JsonOption, SetOption, settings_of
from pipeline.clock import now_micros
from pipeline.instants import parse_instant
from state.errors import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pipeline.config.settings import Settings
    from pipeline.migrate.progress import Told

app = typer.Typer(
    help="Take over the schedules of another scheduler from its topic.", no_args_is_help=True
)

SourceOption = Annotated[str, typer.Option("--source", help="The topic with its schedules.")]
DialectOption = Annotated[
    str | None,
    typer.Option("--dialect", help="Their format, such as kms-avro; if the settings do not say."),
]
OutputOption = Annotated[
    str | None,
    typer.Option("--output-topic", help="For cloudevents-mongo: where its messages go."),
]
ReasonsOption = Annotated[
    int, typer.Option("--reasons", min=1, help="Tell the first so many that cannot be taken.")
]
AsOfOption = Annotated[
    str | None,
    typer.Option("--as-of", help="Overdue is what was due by then (RFC 3339, -1h); else by now."),
]
OverdueOption = Annotated[
    bool, typer.Option("--skip-overdue", help="Leave out what should be out already.")
]
UnreadableOption = Annotated[
    bool, typer.Option("--skip-unreadable", help="Go on without what cannot be taken.")
]


@app.command()
def check(
    source: SourceOption,
    dialect: DialectOption = None,
    output_topic: OutputOption = None,
    as_of: AsOfOption = None,
    reasons: ReasonsOption = 20,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    assign: SetOption = None,
) -> None:
    """Read the whole topic and count; nothing is changed. Exit code 1 if not all can be taken."""
    from pipeline.migrate.source import to_look_at

    now = _instant(as_of) or now_micros()
    given = settings_of(config, assign)
    settings, found = to_look_at(given, source, dialect, output_topic)
    with extras_told():
        from pipeline.cli.migrate_output import print_report, report_json
        from pipeline.migrate.check import check as look
        from pipeline.migrate.span import require_topic
    require_topic(settings.kafka, found.topic)
    with _spark(settings, source) as spark, _progress(f"reading {source}") as told:
        report, _ = look(spark, settings, found, now, told, reasons)
    if as_json:
        typer.echo(report_json(report))
    else:
        print_report(report)
    if any(report.problems()):
        raise typer.Exit(1)


@app.command()
def run(
    source: SourceOption,
    dialect: DialectOption = None,
    as_of: AsOfOption = None,
    skip_overdue: OverdueOption = False,
    skip_unreadable: UnreadableOption = False,
    config: ConfigOption = None,
    assign: SetOption = None,
) -> None:
    """Import what is pending into the state of a stopped job; done again, it changes nothing."""
    from pipeline.config.checks import require_runnable
    from pipeline.migrate.source import to_take

    overdue_at = _instant(as_of)
    settings = settings_of(config, assign)
    found = to_take(settings, source, dialect)
    require_runnable(settings)
    if settings.state.kind == "memory":
        raise ConfigError("state.kind is memory, which forgets; set it to delta or mongo")
    with extras_told():
        from pipeline.cli.migrate_output import print_imported, print_report
        from pipeline.migrate.run import Wish, run_import
        from pipeline.migrate.span import require_topic
    require_topic(settings.kafka, found.topic)
    wish = Wish(skip_overdue, skip_unreadable, overdue_at)
    with (
        _spark(settings, source) as spark,
        _progress(f"reading {source}") as reading,
        _progress("importing") as taking,
    ):
        imported = run_import(spark, settings, found, wish, (reading, taking))
    print_report(imported.report)
    print_imported(imported, wish)
    if imported.accepted is None:
        raise typer.Exit(1)


def _instant(as_of: str | None) -> int | None:
    return None if as_of is None else parse_instant(as_of, "--as-of", now_micros())


@contextmanager
def _spark(settings: Settings, topic: str) -> Iterator[SparkSession]:
    from pipeline.migrate.reading import failures_told
    from pipeline.session import spark_session

    typer.echo(f"starting Spark, to read {topic} as the job would; that takes a while", err=True)
    spark = spark_session(settings.name, settings.spark.master, settings.spark.options)
    try:
        with failures_told(topic):
            yield spark
    finally:
        spark.stop()


@contextmanager
def _progress(what: str) -> Iterator[Told]:
    """Show a bar where there is a terminal; it appears when there is something to tell."""
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn

    screen = Console(stderr=True)
    columns = (*Progress.get_default_columns()[:3], MofNCompleteColumn(), TimeElapsedColumn())
    progress = Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal)
    task = progress.add_task(what, total=None)

    def told(done: int, total: int) -> None:
        progress.start()
        progress.update(task, completed=done, total=total)
        if done >= total:
            progress.stop()

    try:
        yield told
    finally:
        progress.stop()
