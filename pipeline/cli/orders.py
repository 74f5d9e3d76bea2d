"""The commands for what is pending: cancel, reschedule, send-now, pause and resume."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from pipeline.cli.bulk import Picked, order_many
from pipeline.cli.options import ConfigOption, JsonOption, SetOption, settings_of
from pipeline.cli.order_options import (
    ActorOption,
    AllOption,
    AtOption,
    DryOption,
    FromOption,
    HeaderOption,
    InOption,
    InputOption,
    KeyArgument,
    PrefixOption,
    ReasonOption,
    ReplyOption,
    SourceOption,
    ToOption,
    TopicOption,
    VersionOption,
    YesOption,
)
from pipeline.cli.remarks import Order, remarked
from pipeline.cli.send import client_of, instant_of, tell, told_by_option
from pipeline.keys import key_bytes
from state.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pipeline.config.settings import Settings


def reschedule(
    key: KeyArgument = None,
    at: AtOption = None,
    delay: InOption = None,
    topic: TopicOption = None,
    key_prefix: PrefixOption = None,
    due_from: FromOption = None,
    due_to: ToOption = None,
    header: HeaderOption = None,
    source: SourceOption = None,
    dry_run: DryOption = False,
    yes: YesOption = False,
    reason: ReasonOption = None,
    actor: ActorOption = None,
    if_version: VersionOption = None,
    reply_to: ReplyOption = None,
    input_topic: InputOption = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    assign: SetOption = None,
) -> None:
    """Give what is pending another instant: of a key, or of all that match."""
    picked = Picked(topic, key_prefix, due_from, due_to, header, source, dry_run, yes)
    said = remarked(reason, actor, if_version, reply_to)
    order = Order("reschedule", said, {"at": instant_of(at, delay), "delay": delay})
    _order(order, key, picked, input_topic, as_json, settings_of(config, assign))


def _of_scope(order: Order, key: str | None, picked: Picked, everything: bool) -> Order:
    """Return the one command for a topic or for all, where that is what the options say."""
    if everything:
        if key is not None or picked.narrows():
            raise ConfigError("--all: is everything there is; give no KEY and no choice with it")
        return order.with_scope(everything=True)
    if key is None and picked.only_topic():
        return order.with_scope(topic=picked.topic)
    return order


def _order(
    order: Order,
    key: str | None,
    picked: Picked,
    input_topic: str | None,
    as_json: bool,
    settings: Settings,
) -> None:
    if order.scope is None and key is None:
        with told_by_option():
            order_many(order, picked, input_topic, as_json, settings)
        return
    if order.scope is None and picked.narrows():
        raise ConfigError("KEY: name one, or choose many by the options, and not both")
    if picked.dry_run:
        typer.echo(f"would send: {order.words} for {order.scope or key}")
        return
    name = None if key is None else key_bytes(key)
    with client_of(settings, input_topic) as client, told_by_option():
        receipt = order.give(client, name, order.said)
    tell(f"{order.words} sent for", receipt, as_json, order.scope)


def _of_messages(name: str, help_text: str) -> Callable[..., None]:
    """Return a command about one message or all that match."""

    def give(
        key: KeyArgument = None,
        topic: TopicOption = None,
        key_prefix: PrefixOption = None,
        due_from: FromOption = None,
        due_to: ToOption = None,
        header: HeaderOption = None,
        source: SourceOption = None,
        dry_run: DryOption = False,
        yes: YesOption = False,
        reason: ReasonOption = None,
        actor: ActorOption = None,
        if_version: VersionOption = None,
        reply_to: ReplyOption = None,
        input_topic: InputOption = None,
        as_json: JsonOption = False,
        config: ConfigOption = None,
        assign: SetOption = None,
    ) -> None:
        picked = Picked(topic, key_prefix, due_from, due_to, header, source, dry_run, yes)
        said = remarked(reason, actor, if_version, reply_to)
        _order(Order(name, said), key, picked, input_topic, as_json, settings_of(config, assign))

    give.__doc__ = help_text
    return give


def _of_scopes(name: str, help_text: str) -> Callable[..., None]:
    """Return a command that may also be about an output topic, or about everything."""

    def give(
        key: KeyArgument = None,
        topic: TopicOption = None,
        everything: AllOption = False,
        key_prefix: PrefixOption = None,
        due_from: FromOption = None,
        due_to: ToOption = None,
        header: HeaderOption = None,
        source: SourceOption = None,
        dry_run: DryOption = False,
        yes: YesOption = False,
        reason: ReasonOption = None,
        actor: ActorOption = None,
        if_version: VersionOption = None,
        reply_to: ReplyOption = None,
        input_topic: InputOption = None,
        as_json: JsonOption = False,
        config: ConfigOption = None,
        assign: SetOption = None,
    ) -> None:
        picked = Picked(topic, key_prefix, due_from, due_to, header, source, dry_run, yes)
        order = Order(name, remarked(reason, actor, if_version, reply_to))
        order = _of_scope(order, key, picked, everything)
        _order(order, key, picked, input_topic, as_json, settings_of(config, assign))

    give.__doc__ = help_text
    return give


cancel = _of_messages("cancel", "Withdraw what is pending: of a key, or of all that match.")
send_now = _of_messages(
    "send_now", "Publish what is pending at once: of a key, or of all that match."
)
pause = _of_scopes(
    "pause", "Hold back a key, an output topic (--topic alone), everything, or all that match."
)
resume = _of_scopes("resume", "Let go what was paused; what is overdue by then goes out at once.")
