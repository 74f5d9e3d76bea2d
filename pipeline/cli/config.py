"""The commands that look at the settings: ``config show`` and ``config check``."""

import os

import typer

from pipeline.cli.options import ConfigOption, SetOption, settings_of

app = typer.Typer(help="Look at the settings.", no_args_is_help=True)


@app.command()
def show(config: ConfigOption = None, assign: SetOption = None) -> None:
    """Print the settings that hold in the end, as YAML, with secrets hidden."""
    from pipeline.config.show import as_yaml

    typer.echo(as_yaml(settings_of(config, assign)), nl=False)


@app.command()
def check(config: ConfigOption = None, assign: SetOption = None) -> None:
    """Tell whether a job could run with these settings."""
    from pipeline.config.checks import require_runnable
    from pipeline.config.file import settings_file

    require_runnable(settings_of(config, assign))
    file = settings_file(config, os.environ)
    typer.echo(f"The settings are in order ({file or 'no file'}).")
