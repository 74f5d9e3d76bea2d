"""The command that sends a message to the job, ``schedule``, and what all that send need."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pipeline.cli.options import ConfigOption, JsonOption, SetOption, settings_of
from pipeline.cli.schedule_options import (
    ARGUMENTS,
    AtOption,
    AttributeOption,
    CompareOption,
    ContentTypeOption,
    CountOption,
    CronOption,
    DeviationOption,
    EveryOption,
    ExpireAfterOption,
    ExpiresAtOption,
    FileOption,
    ForOption,
    HeaderOption,
    InOption,
    InputOption,
    KeyOption,
    OnMissOption,
    OnSameOption,
    OutputKeyOption,
    PayloadArgument,
    SettleForOption,
    SettleMaxOption,
    TopicOption,
    UntilOption,
    ZoneOption,
)
from pipeline.keys import key_bytes, key_text
from pipeline.option_names import OPTIONS
from state.errors import ConfigError

if TYPE_CHECKING:
    from pipeline.client import Client, Receipt
    from pipeline.config.settings import Settings

_TIMEOUT = timedelta(seconds=15)


def schedule(
    payload: PayloadArgument = None,
    *,
    topic: TopicOption,
    at: AtOption = None,
    delay: InOption = None,
    key: KeyOption = None,
    every: EveryOption = None,
    cron: CronOption = None,
    tz: ZoneOption = None,
    until: UntilOption = None,
    lasting: ForOption = None,
    count: CountOption = None,
    on_miss: OnMissOption = None,
    on_same: OnSameOption = None,
    compare: CompareOption = None,
    min_deviation: DeviationOption = None,
    settle_for: SettleForOption = None,
    settle_max: SettleMaxOption = None,
    expires_at: ExpiresAtOption = None,
    expire_after: ExpireAfterOption = None,
    output_key: OutputKeyOption = None,
    content_type: ContentTypeOption = None,
    file: FileOption = None,
    header: HeaderOption = None,
    attribute: AttributeOption = None,
    source: InputOption = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    assign: SetOption = None,
) -> None:
    """Have a message published later, once or again and again."""
    attributes = {
        "repeatevery": every,
        "repeatcron": cron,
        "repeattz": tz,
        "repeatuntil": until,
        "repeatfor": lasting,
        "repeatcount": count,
        "onmiss": on_miss,
        "onsameid": on_same,
        "comparefield": compare,
        "mindeviation": min_deviation,
        "settlefor": settle_for,
        "settlemax": settle_max,
        "expirytime": expires_at,
        "expireafter": expire_after,
    }
    asked = {name: value for name, value in attributes.items() if value is not None}
    instant = None if _needs_no_instant(asked, at, delay) else instant_of(at, delay)
    content = _content(payload, file)
    settings = settings_of(config, assign)
    with client_of(settings, source) as client, told_by_option():
        receipt = client.schedule(
            content,
            topic=topic,
            key=None if key is None else key_bytes(key),
            at=instant,
            delay=delay,
            output_key=output_key,
            content_type=content_type,
            attributes=_together(pairs_of("--attribute", attribute), asked),
            headers=pairs_of("--header", header),
        )
    _warn_if_not_allowed(settings, topic)
    tell("scheduled", receipt, as_json)


def client_of(settings: Settings, source: str | None) -> Client:
    """Return a client for an input topic, else the first source."""
    from pipeline.client import Client

    return Client(settings, topic=source, timeout=_TIMEOUT)


def instant_of(at: str | None, delay: str | None) -> datetime | None:
    """Return the instant, None where a delay is given; one of the two must be."""
    from pipeline.instants import parse_rfc3339

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


def pairs_of(option: str, texts: list[str] | None) -> dict[str, str]:
    """Read what was given as NAME=VALUE."""
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


def tell(what: str, receipt: Receipt, as_json: bool, about: str | None = None) -> None:
    """Say what was sent, about whom (else its key), and where it is."""
    key = key_text(receipt.key)
    if as_json:
        typer.echo(json.dumps({**asdict(receipt), "key": key}, ensure_ascii=False))
        return
    place = f"{receipt.topic}, partition {receipt.partition}, offset {receipt.offset}"
    typer.echo(f"{what} {about or key} ({place})")


def _together(given: dict[str, str], asked: dict[str, str]) -> dict[str, str]:
    for name in given.keys() & asked.keys():
        raise ConfigError(f"--attribute: {name} is given by {OPTIONS[name]} too; give it once")
    return given | asked


def _needs_no_instant(asked: dict[str, str], at: str | None, delay: str | None) -> bool:
    repeats_or_settles = not asked.keys().isdisjoint(("repeatevery", "repeatcron", "settlefor"))
    return repeats_or_settles and at is None and delay is None


@contextmanager
def told_by_option() -> Iterator[None]:
    """Name the option where the client names the argument or the attribute it became."""
    from pipeline.event import ScheduleError

    try:
        yield
    except ScheduleError as error:
        argument, colon, rest = str(error).partition(":")
        sentence = f"{ARGUMENTS.get(argument, argument)}{colon}{rest}"
        options = re.compile(rf"\b({'|'.join(OPTIONS)})\b")
        raise ScheduleError(options.sub(lambda found: OPTIONS[found[0]], sentence)) from error
