"""Says in the attributes of an event what a message asks for, so that it can be asked again."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.admin.console.lines import Row
from pipeline.admin.console.texts import t
from pipeline.clock import exact_text
from pipeline.config.spans import write_duration
from pipeline.paused import instant_of
from pipeline.planning.event import CARRIED
from state import row as r
from state.row import LIVE
from state.rules.policy import Policy
from state.rules.repeat import Repeat
from state.rules.same_policy import SETTLING, SameKey, SamePolicy

Said = Iterator[tuple[str, str | None]]


@dataclass(frozen=True, slots=True)
class Again:
    """The attributes but for time and payload; ``left`` names, for people, what they do not say."""

    attributes: dict[str, str]
    left: tuple[str, ...] = ()


def asked_again(row: Row, hide: bool) -> Again:
    """Return what a message asks for; of a series what is left of it. ``hide`` hides headers."""
    policy = Policy.from_json(row[r.POLICY])
    known, left = _content(row, hide), list(_lost(policy))
    known |= dict(_policy(policy)) | dict(_expiry(policy, row))
    if policy.repeat is not None:
        known |= dict(_repeat(policy.repeat, row[r.OCCURRENCE]))
    given = {name: text for name, text in known.items() if text is not None}
    left += [name for name, text in given.items() if not text.isprintable()]
    plain = {name: text for name, text in given.items() if text.isprintable()}
    return Again(plain, (*left, *_unsaid(row, hide)))


def decides_when(row: Row) -> bool:
    """Tell whether the message itself decides when it is due: it waits for others of its key."""
    return Policy.from_json(row[r.POLICY]).same.policy in SETTLING


def _content(row: Row, hide: bool) -> dict[str, str | None]:
    partition, key = row[r.OUTPUT_PARTITION], row[r.OUTPUT_KEY]
    return {
        "outputtopic": row[r.OUTPUT_TOPIC],
        "outputkey": None if key == row[r.KEY] else _text(key),
        "outputpartition": None if partition is None else str(partition),
        **({} if hide else dict(_headers(row))),
    }


def _headers(row: Row) -> Said:
    for header in row[r.HEADERS] or []:
        name = _attribute(header["key"])
        if name is not None:
            yield name, _text(header["value"])


def _policy(policy: Policy) -> Said:
    yield "retrymax", None if policy.retrymax is None else str(policy.retrymax)
    yield "retryfor", _span(policy.retryfor)
    yield from _same(policy.same)


def _same(same: SameKey) -> Said:
    if same.policy == SamePolicy.REPLACE:
        return
    yield "onsameid", same.policy.value
    yield "comparefield", same.compare_field
    yield "mindeviation", same.min_deviation
    yield "settlefor", _span(same.settle_for)
    yield "settlemax", _span(same.settle_max)


def _repeat(repeat: Repeat, occurrence: int) -> Said:
    yield "repeatevery", _span(repeat.every)
    yield "repeatcron", repeat.cron
    yield "repeattz", None if repeat.cron is None else repeat.tz
    yield "repeatcount", None if repeat.count is None else str(max(1, repeat.count - occurrence))
    yield "repeatuntil", None if repeat.until is None else exact_text(repeat.until)
    yield "onmiss", repeat.on_miss.value


def _expiry(policy: Policy, row: Row) -> Said:
    """Say until when it is of use; of what has ended for how long it was."""
    if policy.expireafter is not None:
        yield "expireafter", _span(policy.expireafter)
    elif policy.expires is not None and row[r.STATUS] in LIVE:
        yield "expirytime", exact_text(policy.expires)
    elif policy.expires is not None:
        yield "expireafter", _span(max(1, policy.expires - instant_of(row)))


def _lost(policy: Policy) -> Iterator[str]:
    yield from sorted(json.loads(policy.others)) if policy.others else ()
    if policy.then is not None:
        yield t("the times of its series (this occurrence was moved, the next would follow it)")


def _unsaid(row: Row, hide: bool) -> Iterator[str]:
    key = row[r.OUTPUT_KEY]
    if key is None:
        yield t("that it goes out without a key")
    elif key != row[r.KEY] and _text(key) is None:
        yield t("outputkey (it is no text)")
    for header in row[r.HEADERS] or []:
        name = header["key"]
        if hide or _attribute(name) is None or _text(header["value"]) is None:
            yield t("header %(name)s", name=name)


def _attribute(header: str) -> str | None:
    """Return the attribute that becomes a header."""
    if header == "content-type":
        return "datacontenttype"
    return header if header in CARRIED else None


def _span(micros: int | None) -> str | None:
    return None if micros is None else write_duration(micros)


def _text(raw: bytes | None) -> str | None:
    try:
        return None if raw is None else raw.decode()
    except UnicodeDecodeError:
        return None
