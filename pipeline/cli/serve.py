"""The commands of the web process: ``serve`` and ``token``."""

import hashlib
import secrets
from typing import Annotated, Literal

import typer

from pipeline.cli.extras import extras_told
from pipeline.cli.options import ConfigOption, SetOption, settings_of


def serve(config: ConfigOption = None, assign: SetOption = None) -> None:
    """Serve the HTTP API and the web console, until Ctrl-C or SIGTERM."""
    from pipeline.observe.logs import last_words, set_up_logs

    settings = settings_of(config, assign)
    set_up_logs(settings.log.level, settings.log.format)
    with last_words(settings.log.format):
        with extras_told():
            from pipeline.admin.serve import serve as serve_all
        serve_all(settings)


def token(
    name: Annotated[str, typer.Argument(help="Who is to have it.")],
    role: Annotated[Literal["viewer", "operator"], typer.Option(help="What it allows.")] = "viewer",
) -> None:
    """Make a token for the web process, and the lines of admin.tokens that let it in."""
    made = secrets.token_urlsafe(32)
    typer.echo(f"token, shown this once: {made}", err=True)
    typer.echo(f"- name: {name}\n  role: {role}")
    typer.echo(f"  sha256: {hashlib.sha256(made.encode()).hexdigest()}")
