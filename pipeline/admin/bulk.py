"""Gives one command about many keys, after telling how many it would be about."""

import logging
from collections import defaultdict
from dataclasses import dataclass, field

from pipeline.admin.desk import Desk
from pipeline.admin.problems import Problem
from pipeline.admin.single import message_of
from pipeline.admin.who import Principal
from pipeline.choice import Choice, Chosen, choose
from pipeline.client import Client
from pipeline.clock import now_micros
from pipeline.commands import Command
from pipeline.event import Record
from pipeline.orders import Remarks, order_record
from pipeline.planning.plan import NotTaken, plan
from state.inspect import Inspector
from state.row import SOURCE_TOPIC

log = logging.getLogger(__name__)

MOST = 10_000  # keys at once
MOST_NAMED = 500  # keys that may be named one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be done to each message; ``at`` or ``delay`` is of a reschedule."""

    command: Command
    at: str | None = None
    delay: str | None = None
    reason: str | None = None

    def record(self, key: bytes, actor: str, version: str | None = None) -> Record:
        """Return the record that says so of one key."""
        said = {"deliverat": self.at, "delayby": self.delay}
        when = {name: text for name, text in said.items() if text is not None}
        remarks = Remarks(reason=self.reason, actor=actor, if_version=version)
        return order_record(self.command, key, remarks, when)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which messages: those that match the choice, and are among the keys if any are named."""

    choice: Choice = field(default_factory=Choice)
    keys: tuple[bytes, ...] = ()

    @property
    def narrows(self) -> bool:
        """Whether anything is chosen at all."""
        return bool(self.keys) or self.choice != Choice()


def chosen(desk: Desk, state: Inspector, wanted: Wanted) -> list[Chosen]:
    """Return the keys that are meant, each with the version that is pending."""
    if not wanted.narrows:
        raise Problem(
            422, "nothing_chosen", "where: is empty; name a topic, a key_prefix, a time or keys"
        )
    if not wanted.keys:
        return choose(state, wanted.choice)
    if len(wanted.keys) > MOST_NAMED:
        raise Problem(422, "too_many", f"where.keys: are more than {MOST_NAMED}; choose by filters")
    if wanted.choice == Choice(source=wanted.choice.source):
        return _named(desk, state, wanted)
    named = set(wanted.keys)
    return [each for each in choose(state, wanted.choice) if each.key in named]


def send(desk: Desk, who: Principal, order: Order, these: list[Chosen]) -> int:
    """Send one command for each key, on the condition that its version is still pending."""
    if len(these) > MOST:
        raise Problem(
            422, "too_many", f"where: matches {len(these):,}, and at most {MOST:,} go at once"
        )
    judge(desk, who, order)
    by_source: defaultdict[str, list[Chosen]] = defaultdict(list)
    for each in these:
        by_source[desk.sending.source(each.source)].append(each)
    for source, keys in by_source.items():
        with Client(desk.settings, topic=source) as client:
            for each in keys:
                made = order.record(each.key, who.name, each.version)
                client.forward(made.key, made.value, made.headers, wait=False)
    log.info("%s sent %s for %d keys", who.name, order.command, len(these))
    return len(these)


def judge(desk: Desk, who: Principal, order: Order) -> None:
    """Raise a Problem if the job would refuse the command."""
    value = order.record(b"?", who.name).value or b""
    judged = plan(value, desk.settings, now_micros(), b"?", limit=1)
    if isinstance(judged, NotTaken):
        raise Problem(422, judged.reason, judged.sentence)


def _named(desk: Desk, state: Inspector, wanted: Wanted) -> list[Chosen]:
    found = []
    for key in dict.fromkeys(wanted.keys):
        default = desk.sending.default_source
        known = message_of(state, desk.settings, key, wanted.choice.source, default)
        row, version = known.current, known.version
        if row is not None and version is not None and known.is_pending:
            found.append(Chosen(row[SOURCE_TOPIC], key, version))
    return found
