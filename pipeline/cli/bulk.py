"""Gives one command about many keys: all whose pending messages match a choice.

Each command names the version that was seen, so what changes in the meantime is left alone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import typer

from pipeline.cli.options import inspector_of
from pipeline.cli.send import client_of, pairs_of
from pipeline.clock import now_micros
from pipeline.instants import parse_instant
from pipeline.keys import key_bytes, key_text
from state.errors import ConfigError

if TYPE_CHECKING:
    from pipeline.choice import Choice, Chosen
    from pipeline.cli.remarks import Order
    from pipeline.client import Client
    from pipeline.config.settings import Settings

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Picked:
    """The options that choose, as they were typed, and whether to ask."""

    topic: str | None
    key_prefix: str | None
    due_from: str | None
    due_to: str | None
    header: list[str] | None
    source: str | None
    dry_run: bool = False
    yes: bool = False

    def narrows(self) -> bool:
        """Tell whether anything is chosen by an option."""
        return self.topic is not None or self._more()

    def only_topic(self) -> bool:
        """Tell whether an output topic is all that is named."""
        return self.topic is not None and not self._more()

    def choice(self) -> Choice:
        """Read the options."""
        from pipeline.choice import Choice

        now = now_micros()
        prefix = self.key_prefix
        return Choice(
            topic=self.topic,
            source=self.source,
            key_prefix=None if prefix is None else key_bytes(prefix, "--key-prefix"),
            due_from=_instant(self.due_from, "--due-from", now),
            due_to=_instant(self.due_to, "--due-to", now),
            headers={n: v.encode() for n, v in pairs_of("--header", self.header).items()},
        )

    def _more(self) -> bool:
        others = (self.key_prefix, self.due_from, self.due_to, self.header, self.source)
        return any(option is not None for option in others)


def order_many(
    order: Order, picked: Picked, input_topic: str | None, as_json: bool, settings: Settings
) -> None:
    """Tell how many are meant, ask, and send one command for each."""
    _check(order, picked, input_topic)
    choice = picked.choice()
    from pipeline.choice import choose

    chosen = choose(inspector_of(settings), choice)
    if not picked.dry_run:
        if chosen and not picked.yes:
            typer.confirm(f"Send {order.words} for {len(chosen):,}?", abort=True, err=True)
        _send(order, chosen, settings)
    _tell(order, chosen, picked.dry_run, as_json)


def _check(order: Order, picked: Picked, input_topic: str | None) -> None:
    if not picked.narrows():
        scope = ", or --all" if order.name in ("pause", "resume") else ""
        raise ConfigError(
            "KEY: name one, or choose by --topic, --key-prefix, --due-from, --due-to, --header or "
            f"--source{scope}"
        )
    if order.said.if_version is not None:
        raise ConfigError("--if-version: is of one KEY; many are held to the versions found anyway")
    if input_topic is not None:
        raise ConfigError("--input: is of one KEY; choose by --source, each goes to its own topic")


def _send(order: Order, chosen: list[Chosen], settings: Settings) -> None:
    clients: dict[str, Client] = {}
    for source, key, version in chosen:
        if source not in clients:
            clients[source] = client_of(settings, source)
        said = replace(order.said, if_version=version)
        order.give(clients[source], key, said, wait=False)
    for client in clients.values():
        client.flush()


def _tell(order: Order, chosen: list[Chosen], dry_run: bool, as_json: bool) -> None:
    keys = [key_text(one.key) for one in chosen[:_SHOWN]]
    if as_json:
        counted = {"command": order.words, "count": len(chosen), "sent": not dry_run}
        typer.echo(json.dumps({**counted, "first": keys}, ensure_ascii=False))
        return
    if not dry_run:
        typer.echo(f"{len(chosen):,} sent: {order.words}")
        return
    typer.echo(f"{len(chosen):,} would be sent: {order.words}")
    for key in keys:
        typer.echo(f"  {key}")
    if len(chosen) > _SHOWN:
        typer.echo(f"  ... and {len(chosen) - _SHOWN:,} more")


def _instant(text: str | None, option: str, now: int) -> int | None:
    return None if text is None else parse_instant(text, option, now)
