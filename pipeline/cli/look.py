"""The commands that look into the state: ``list``, ``show`` and ``stats``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.options import ConfigOption, JsonOption, SetOption, inspector_of, settings_of
from pipeline.clock import now_micros
from pipeline.instants import parse_instant
from pipeline.keys import key_bytes, key_text
from state.errors import ConfigError, StateError

if TYPE_CHECKING:
    from collections.abc import Collection

    from pipeline.config.settings import Settings
    from state.row import Status

KeyArgument = Annotated[str, typer.Argument(help="The key; 0x... for bytes that are no text.")]
KeyOption = Annotated[str | None, typer.Option("--key", help="Only this key.")]
StatusOption = Annotated[
    list[str] | None,
    typer.Option("--status", help="Only this status; as often as needed. Else: pending, claimed."),
]
TopicOption = Annotated[str | None, typer.Option("--topic", help="Only for this output topic.")]
FromOption = Annotated[
    str | None, typer.Option("--due-from", help="Due then or later: RFC 3339, +1h, -5m.")
]
ToOption = Annotated[str | None, typer.Option("--due-to", help="Due before: RFC 3339, +1h, -5m.")]
LimitOption = Annotated[int, typer.Option("--limit", min=1, help="At most this many.")]
InputOption = Annotated[str | None, typer.Option("--input", help="Only from this input topic.")]


def list_rows(
    status: StatusOption = None,
    topic: TopicOption = None,
    due_from: FromOption = None,
    due_to: ToOption = None,
    key: KeyOption = None,
    limit: LimitOption = 50,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    assign: SetOption = None,
) -> None:
    """List schedules, the next due first."""
    now = now_micros()
    settings = settings_of(config, assign)
    from state.inspect import Filter

    where = Filter(
        statuses=_statuses(status),
        output_topic=topic,
        due_from=None if due_from is None else parse_instant(due_from, "--due-from", now),
        due_to=None if due_to is None else parse_instant(due_to, "--due-to", now),
        key=None if key is None else key_bytes(key),
        limit=limit + 1,
    )
    found = inspector_of(settings).rows(where).to_pylist()
    _print_rows(found[:limit], now, as_json)
    if len(found) > limit:
        typer.secho(f"There are more; --limit shows more than {limit}.", fg="yellow", err=True)


def show(
    key: KeyArgument,
    source: InputOption = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    assign: SetOption = None,
) -> None:
    """Show every version of a key and the commands about it, the newest last."""
    settings = settings_of(config, assign)
    versions = inspector_of(settings).versions(key_bytes(key), source).to_pylist()
    if not versions:
        raise StateError(_unknown(key, settings))
    from pipeline.cli.versions import print_versions

    print_versions(versions, now_micros(), as_json)


def stats(
    as_json: JsonOption = False, config: ConfigOption = None, assign: SetOption = None
) -> None:
    """Count: what was accepted, where it is now, what is due next."""
    now = now_micros()
    counted = inspector_of(settings_of(config, assign)).stats(now)
    if as_json:
        from pipeline.as_json import stats_json

        typer.echo(stats_json(counted))
        return
    from pipeline.cli.as_table import console, stats_table

    console().print(stats_table(counted, now))


def _statuses(names: list[str] | None) -> Collection[Status]:
    from pipeline.config.nearest import did_you_mean
    from state.row import LIVE, Status

    known = {status.value: status for status in Status}
    for name in names or []:
        if name not in known:
            raise ConfigError(f"--status: {name} is not known; {did_you_mean(name, known)}")
    return [known[name] for name in names] if names else LIVE


def _print_rows(rows: list[dict[str, object]], now: int, as_json: bool) -> None:
    if as_json:
        from pipeline.as_json import row_json

        for row in rows:
            typer.echo(row_json(row))
        return
    if not rows:
        typer.echo("Nothing found.")
        return
    from pipeline.cli.as_table import console, rows_table

    console().print(rows_table(rows, now))


def _unknown(key: str, settings: Settings) -> str:
    from pipeline.config.spans import write_duration

    kept = write_duration(settings.state.keep_closed)
    return (
        f"KEY: nothing is known of {key_text(key_bytes(key))}; closed schedules are forgotten "
        f"after {kept} (state.keep_closed)"
    )
