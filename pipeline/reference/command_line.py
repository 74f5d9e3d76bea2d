"""Writes the page of the command line, from the commands themselves."""

from collections.abc import Iterator
from typing import Any

import typer

from pipeline.cli.main import app
from pipeline.reference.table import table

_OPENING = """\
# Command line

Exit code 0: done. 1: a check found a difference, or what was asked about would be refused. 2: a
mistake, told in one sentence on standard error. 130: ended by Ctrl-C. Settings come from a file,
the environment and `--set`, for every command alike: [Configuration](../configuration.md).
"""


def command_line_page() -> str:
    """Return the page."""
    commands = list(_commands(typer.main.get_command(app), "duestream"))
    contents = table(
        ["command", "does"],
        [(f"[`{name}`](#{name.replace(' ', '-')})", _first(command)) for name, command in commands],
    )
    sections = "\n".join(_section(name, command) for name, command in commands)
    return f"{_OPENING}\n{contents}\n\n{sections}"


def _commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
        return
    for part, each in sorted(inner.items()):
        yield from _commands(each, f"{name} {part}")


def _section(name: str, command: Any) -> str:
    context = command.make_context(name, [], resilient_parsing=True)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    parts = [
        f"## `{name}` {{ #{name.replace(' ', '-')} }}",
        str(command.help).strip(),
        f"```\n{usage}\n```",
    ]
    records = [param.get_help_record(context) for param in command.params]
    rows = [(f"`{names}`", " ".join(meaning.split())) for names, meaning in filter(None, records)]
    return "\n\n".join([*parts, table(["option", "meaning"], rows)]) + "\n"


def _first(command: Any) -> str:
    return str(command.help).strip().partition("\n")[0]
