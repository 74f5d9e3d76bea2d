"""The entry point of the command line."""

import sys

import typer

from pipeline.cli import (
    acl,
    audit,
    commands,
    config,
    dead,
    health,
    look,
    migrate,
    orders,
    plan,
    send,
    serve,
    state,
    work,
)
from state.errors import DuestreamError

app = typer.Typer(
    help="Delayed and scheduled messages for Kafka.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(send.schedule)
app.command()(plan.plan)
app.command("cancel")(orders.cancel)
app.command()(orders.reschedule)
app.command("send-now")(orders.send_now)
app.command("pause")(orders.pause)
app.command("resume")(orders.resume)
app.command("list")(look.list_rows)
app.command()(look.show)
app.command()(look.stats)
app.command()(commands.commands)
app.command()(audit.audit)
app.command()(work.run)
app.command()(health.health)
app.command()(serve.serve)
app.command()(serve.token)
app.command()(work.demo)
app.command()(work.kafka)
app.command()(work.mongo)
app.add_typer(work.topic, name="topic")
app.add_typer(dead.app, name="dead")
app.add_typer(state.app, name="state")
app.add_typer(migrate.app, name="migrate")
app.add_typer(config.app, name="config")
app.add_typer(acl.app, name="acl")


@app.command()
def version() -> None:
    """Print the version."""
    from importlib.metadata import version as version_of

    typer.echo(f"duestream {version_of('duestream')}")


def main() -> None:
    """Run one command; a user's mistake is one sentence and exit code 2, Ctrl-C is 130."""
    try:
        app()
    except DuestreamError as error:
        typer.secho(str(error), fg="red", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


def job() -> None:
    """Run one command for a platform that takes any exit for a failure: what went well returns."""
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise


if __name__ == "__main__":
    main()
