"""The commands that do the work: ``run``, ``demo``, ``kafka``, ``mongo`` and ``topic create``."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from pipeline.cli.extras import extras_told
from pipeline.cli.options import ConfigOption, SetOption, settings_of

topic = typer.Typer(help="Create topics.", no_args_is_help=True)

OnceOption = Annotated[bool, typer.Option("--once", help="Stop when all that is there is done.")]
MeasureOption = Annotated[
    Path | None, typer.Option("--measure", help="Write a line of JSON for each tick to this file.")
]


def run(
    once: OnceOption = False,
    measure: MeasureOption = None,
    config: ConfigOption = None,
    assign: SetOption = None,
) -> None:
    """Run the job, until Ctrl-C or SIGTERM."""
    from pipeline.config.checks import require_runnable
    from pipeline.observe.logs import last_words, set_up_logs

    settings = settings_of(config, assign)
    require_runnable(settings)  # before Spark, which takes a while to start
    set_up_logs(settings.log.level, settings.log.format)
    with last_words(settings.log.format):
        with extras_told():
            from pipeline.app import run as run_job
        run_job(settings, once=once, measure=measure)


def demo(
    seconds: Annotated[int, typer.Option(min=1, help="About how long it plays.")] = 30,
    keep: Annotated[
        Path | None,
        typer.Option(help="Keep its files in this folder until the next demo; else none stay."),
    ] = None,
    state: Annotated[
        Literal["delta", "mongo"], typer.Option(help="Where the state is kept.")
    ] = "delta",
    ui: Annotated[
        bool, typer.Option("--ui", help="Serve the web console beside it, and stay until Ctrl-C.")
    ] = False,
) -> None:
    """Try it all: a broker, a job and messages that come out when they are due."""
    with extras_told():
        from pipeline.demo.show import run_demo
    run_demo(seconds, keep, state, ui)


def kafka(
    data: Annotated[Path, typer.Option(help="Where the broker keeps its files.")] = Path(
        "data/kafka"
    ),
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where it listens.")] = 9092,
) -> None:
    """Start a Kafka broker on this machine, for trying things out."""
    with extras_told():
        from pipeline.local_kafka import run_local_kafka
    run_local_kafka(data, port)


def mongo(
    data: Annotated[Path, typer.Option(help="Where it keeps its files.")] = Path("data/mongo"),
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where it listens.")] = 27017,
    engine: Annotated[
        Literal["embedded", "secantus"],
        typer.Option(help="MongoDB's own engine, or another that speaks its protocol."),
    ] = "embedded",
) -> None:
    """Start a MongoDB on this machine, for trying things out."""
    with extras_told():
        from pipeline.local_mongo import run_local_mongo
    run_local_mongo(data, port, engine)


@topic.command()
def create(
    names: Annotated[list[str], typer.Argument(help="The topics to create.")],
    partitions: Annotated[int, typer.Option(min=1, help="Partitions of each.")] = 1,
    config: ConfigOption = None,
    assign: SetOption = None,
) -> None:
    """Create topics on the cluster of the settings."""
    from pipeline.cli.topics import create_topics

    for name, created in create_topics(settings_of(config, assign).kafka, names, partitions):
        typer.echo(f"created {name}" if created else f"{name} is there already")
