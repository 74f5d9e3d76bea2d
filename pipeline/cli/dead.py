"""The commands for what ended as dead: ``dead list``, ``dead show`` and ``dead resubmit``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipeline.cli.options import ConfigOption, JsonOption, SetOption, inspector_of, settings_of
from pipeline.clock import now_micros
from pipeline.instants import parse_instant
from pipeline.keys import key_bytes, key_text
from state.errors import ConfigError, StateError

if TYPE_CHECKING:
    from pipeline.config.settings import Settings
    from pipeline.resubmit import Plan
    from state.inspect import Inspector

app = typer.Typer(
    help="Look at what could not be admitted or published, and send it again.",
    no_args_is_help=True,
)

KeyArgument = Annotated[str, typer.Argument(help="The key; 0x... for bytes that are no text.")]
OneKeyArgument = Annotated[str | None, typer.Argument(help="Only this key; 0x... for bytes.")]
KeyOption = Annotated[str | None, typer.Option("--key", help="Only this key.")]
ReasonOption = Annotated[
    str | None, typer.Option("--reason", help="Only with this reason, such as unknown_topic.")
]
TopicOption = Annotated[
    str | None,
    typer.Option("--topic", help="Only for this output topic; of refused records: from it."),
]
SinceOption = Annotated[
    str | None, typer.Option("--since", help="Dead then or later: RFC 3339, -1h.")
]
LimitOption = Annotated[int, typer.Option("--limit", min=1, help="At most this many.")]
AllOption = Annotated[bool, typer.Option("--all", help="Everything that is dead.")]
DryOption = Annotated[bool, typer.Option("--dry-run", help="Only tell what would be sent.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Also where a newer version of the key is known.")
]


@app.command("list")
def list_dead(
    reason: ReasonOption = None,
    topic: TopicOption = None,
    key: KeyOption = None,
    since: SinceOption = None,
    limit: LimitOption = 50,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    assign: SetOption = None,
) -> None:
    """List what is dead, the newest first."""
    from pipeline.cli.dead_output import print_dead

    found = _find(inspector_of(settings_of(config, assign)), key, reason, topic, since)
    print_dead(found[:limit], as_json)
    if len(found) > limit:
        typer.secho(f"There are more; --limit shows more than {limit}.", fg="yellow", err=True)


@app.command()
def show(
    key: KeyArgument,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    assign: SetOption = None,
) -> None:
    """Show all that is known of the dead versions of a key, the newest last."""
    from pipeline.cli.versions import print_versions

    settings = settings_of(config, assign)
    found = _find(inspector_of(settings), key)
    if not found:
        raise StateError(_nothing(settings, f"under the key {key_text(key_bytes(key))}"))
    print_versions(found[::-1], now_micros(), as_json)


@app.command()
def resubmit(
    key: OneKeyArgument = None,
    reason: ReasonOption = None,
    topic: TopicOption = None,
    since: SinceOption = None,
    every: AllOption = False,
    dry_run: DryOption = False,
    yes: YesOption = False,
    force: ForceOption = False,
    config: ConfigOption = None,
    assign: SetOption = None,
) -> None:
    """Send what is dead again: a message as due now, a refused record exactly as it came."""
    if not (every or key or reason or topic or since):
        raise ConfigError("KEY: name one, or choose by --reason, --topic, --since or --all")
    settings = settings_of(config, assign)
    inspector = inspector_of(settings)
    found = _find(inspector, key, reason, topic, since)
    if not found:
        raise StateError(_nothing(settings, "of this choice"))
    from pipeline.resubmit import plan_resubmit

    planned = plan_resubmit(inspector, found, force=force)
    _tell_skipped(planned)
    if dry_run:
        _tell_planned(planned)
    elif planned.send and not yes:
        typer.confirm(f"Send {len(planned.send):,} again?", abort=True)
    if not dry_run:
        _send(settings, planned)


def _find(
    inspector: Inspector,
    key: str | None,
    reason: str | None = None,
    topic: str | None = None,
    since: str | None = None,
) -> list[dict[str, Any]]:
    from pipeline.dead import DeadFilter, dead_rows

    where = DeadFilter(
        key=None if key is None else key_bytes(key),
        reason=reason,
        topic=topic,
        since=None if since is None else parse_instant(since, "--since", now_micros()),
    )
    return dead_rows(inspector, where)


def _send(settings: Settings, planned: Plan) -> None:
    from pipeline.resubmit import resubmit as send_all

    for sent, (row, receipt) in enumerate(send_all(settings, planned.send), 1):
        place = f"{receipt.topic}, partition {receipt.partition}, offset {receipt.offset}"
        typer.echo(f"{sent}: {_what(row)} ({place})")
    typer.echo(f"{len(planned.send):,} sent, {len(planned.skip):,} skipped")


def _tell_planned(planned: Plan) -> None:
    for row in planned.send:
        typer.echo(f"would send {_what(row)} to {row['source_topic']}")
    typer.echo(f"{len(planned.send):,} would be sent, {len(planned.skip):,} skipped")


def _tell_skipped(planned: Plan) -> None:
    for row, newer in planned.skip:
        sentence = (
            f"skipped {_what(row)}: a newer version of the key is {newer['status']}, at offset "
            f"{newer['source_offset']}; --force sends it all the same"
        )
        typer.secho(sentence, fg="yellow", err=True)


def _what(row: dict[str, Any]) -> str:
    return f"{row['kind']} {key_text(row['key']) or 'without a key'}"


def _nothing(settings: Settings, where: str) -> str:
    from pipeline.config.spans import write_duration

    kept = write_duration(settings.state.keep_closed)
    return f"nothing {where} is dead; dead rows are forgotten after {kept} (state.keep_closed)"
