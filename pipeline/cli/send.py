"""The commands that send something to the job: ``schedule`` and ``cancel``."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.keys import key_bytes, key_text
from pipeline.cli.options import ConfigOption, JsonOption, SetOption, settings_of
from state.errors import ConfigError

if TYPE_CHECKING:
    from pipeline.client import Client, Receipt
    from pipeline.config.settings import Settings

_TIMEOUT = timedelta(seconds=15)

PayloadArgument = Annotated[
    str | None, typer.Argument(help="The payload; - reads it from standard input.")
]
TopicOption = Annotated[str, typer.Option("--topic", help="Where to publish it.")]
AtOption = Annotated[
    str | None, typer.Option("--at", help="When: RFC 3339, such as 2030-01-31T09:00:00Z.")
]
InOption = Annotated[str | None, typer.Option("--in", help="Or after how long: 15m, 1h30m, PT15M.")]
KeyOption = Annotated[
    str | None,
    typer.Option("--key", help="Its key: the same one again replaces it. Made up if not given."),
]
OutputKeyOption = Annotated[
    str | None, typer.Option("--output-key", help="The key to publish it with; else its own.")
]
FileOption = Annotated[Path | None, typer.Option("--file", help="Read the payload from a file.")]
HeaderOption = Annotated[
    list[str] | None, typer.Option("--header", help="A record header.", metavar="NAME=VALUE")
]
AttributeOption = Annotated[
    list[str] | None,
    typer.Option("--attribute", help="A CloudEvents attribute.", metavar="NAME=VALUE"),
]
InputOption = Annotated[
    str | None, typer.Option("--input", help="The topic the job reads; else the first source.")
]


def schedule(
    payload: PayloadArgument = None,
    *,
    topic: TopicOption,
    at: AtOption = None,
    delay: InOption = None,
    key: KeyOption = None,
    output_key: OutputKeyOption = None,
    file: FileOption = None,
    header: HeaderOption = None,
    attribute: AttributeOption = None,
    source: InputOption = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    assign: SetOption = None,
) -> None:
    """Have a message published later."""
    instant = _instant(at, delay)
    content = _content(payload, file)
    settings = settings_of(config, assign)
    with _client(settings, source) as client:
        receipt = client.schedule(
            content,
            topic=topic,
            key=None if key is None else key_bytes(key),
            at=instant,
            delay=delay,
            output_key=output_key,
            attributes=_pairs("--attribute", attribute),
            headers=_pairs("--header", header),
        )
    _warn_if_not_allowed(settings, topic)
    _tell("scheduled", receipt, as_json)


def cancel(
    key: Annotated[str, typer.Argument(help="The key; 0x... for bytes that are no text.")],
    source: InputOption = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    assign: SetOption = None,
) -> None:
    """Withdraw what is pending under a key."""
    with _client(settings_of(config, assign), source) as client:
        receipt = client.cancel(key_bytes(key))
    _tell("cancel sent for", receipt, as_json)


def _client(settings: Settings, source: str | None) -> Client:
    from pipeline.client import Client

    return Client(settings, topic=source, timeout=_TIMEOUT)


def _instant(at: str | None, delay: str | None) -> datetime | None:
    from pipeline.cli.instants import parse_rfc3339

    if (at is None) == (delay is None):
        raise ConfigError("--at, --in: give one of the two, such as --in 15m")
    return None if at is None else parse_rfc3339(at, "--at")


def _content(payload: str | None, file: Path | None) -> bytes:
    if (payload is None) == (file is None):
        raise ConfigError("PAYLOAD: give it as an argument, as - for standard input, or by --file")
    if file is None:
        return sys.stdin.buffer.read() if payload == "-" else (payload or "").encode()
    try:
        return file.read_bytes()
    except OSError as error:
        raise ConfigError(f"--file: {file} cannot be read: {error.strerror}") from error


def _pairs(option: str, texts: list[str] | None) -> dict[str, str]:
    pairs = dict(text.partition("=")[::2] for text in texts or [] if "=" in text)
    if len(pairs) < len(texts or []):
        raise ConfigError(f"{option}: write NAME=VALUE, and each name once")
    return pairs


def _warn_if_not_allowed(settings: Settings, topic: str) -> None:
    from fnmatch import fnmatchcase

    allowed = settings.outputs.allow
    if allowed and not any(fnmatchcase(topic, pattern) for pattern in allowed):
        sentence = f"outputs.allow does not name {topic}: a job with these settings will refuse it"
        typer.secho(sentence, fg="yellow", err=True)


def _tell(what: str, receipt: Receipt, as_json: bool) -> None:
    key = key_text(receipt.key)
    if as_json:
        typer.echo(json.dumps({**asdict(receipt), "key": key}, ensure_ascii=False))
        return
    place = f"{receipt.topic}, partition {receipt.partition}, offset {receipt.offset}"
    typer.echo(f"{what} {key} ({place})")
