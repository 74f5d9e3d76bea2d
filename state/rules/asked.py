"""Reads what an event asks for, besides what, where to and when, into a policy.

What cannot be read, or cannot be meant, is refused with a reason and a sentence that names the
fields and the way out; nothing raises. The reason is invalid_time or invalid_duration where a text
is no instant or duration, conflicting_attributes where two fields exclude or need one another, and
else that of the part it is about: invalid_repeat, endless_repeat, invalid_policy, invalid_expiry.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from state.rules.asked_repeat import read_repeat
from state.rules.asked_same import compared, read_same
from state.rules.policy import Policy
from state.rules.refusal import Refused, RefusedError, Why, refuse
from state.rules.repeat import MOST, Repeat
from state.rules.same_policy import SETTLING, SameKey
from state.rules.wishes import Wishes, as_text, later

__all__ = ["ATTRIBUTES", "Asked", "Refused", "Why", "read_asked"]

ATTRIBUTES = (
    "retrymax",
    "retryfor",
    "expirytime",
    "expireafter",
    "repeatevery",
    "repeatcron",
    "repeattz",
    "repeatuntil",
    "repeatfor",
    "repeatcount",
    "onmiss",
    "onsameid",
    "comparefield",
    "mindeviation",
    "settlefor",
    "settlemax",
)
_EXCLUDING = (
    ("repeatevery", "repeatcron"),
    ("repeatuntil", "repeatfor"),
    ("expirytime", "expireafter"),
)
_REPEATING = ("repeatevery", "repeatcron")
_NEEDING = {
    "repeattz": ("repeatcron",),
    "repeatuntil": _REPEATING,
    "repeatfor": _REPEATING,
    "repeatcount": _REPEATING,
    "onmiss": _REPEATING,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What an event asks for, and when it is due (first)."""

    policy: Policy
    due: int


def read_asked(
    asked: Mapping[str, str],
    *,
    names: Mapping[str, str] | None,
    due: int | None,
    timestamp: int,
    payload: bytes | None,
    allow_forever: bool,
) -> Asked | Refused:
    """Read the attributes of an event, by their names in lower case; others are not looked at.

    ``names`` says what the event's form calls them (``metaData.repeatEvery``), and may name
    ``deliverat`` and ``delayby`` too. ``due`` is what these two came to, None if neither was given;
    ``timestamp`` is the record's. ``payload`` is what will be sent. ``allow_forever``: a repeat
    needs no end.
    """
    try:
        return _read(Wishes(asked, names or {}), due, timestamp, payload, allow_forever)
    except RefusedError as error:
        return error.refused


def _read(
    wishes: Wishes, due: int | None, timestamp: int, payload: bytes | None, allow_forever: bool
) -> Asked:
    _check_company(wishes)
    same = read_same(wishes)
    _check_settling(wishes, same, due)
    repeat = read_repeat(wishes, due, timestamp, allow_forever)
    _check_length(wishes, repeat, timestamp)
    first = _first(same, repeat, due, timestamp)
    policy = Policy(
        retrymax=wishes.whole("retrymax", 0, Why.INVALID_POLICY),
        retryfor=wishes.span("retryfor"),
        expires=_expires(wishes, first),
        expireafter=wishes.span("expireafter") if repeat else None,
        repeat=repeat,
        same=same,
        first=timestamp if same.policy in SETTLING else None,
        compare=compared(wishes, same, payload),
    )
    return Asked(policy, first)


def _check_company(wishes: Wishes) -> None:
    """Refuse fields that exclude one another, and those that need another one."""
    for one, other in _EXCLUDING:
        if wishes.has(one) and wishes.has(other):
            refuse(
                Why.CONFLICTING_ATTRIBUTES,
                f"{wishes.said(one)} and {wishes.said(other)} are both given; send one of them",
            )
    for name, needed in _NEEDING.items():
        if wishes.has(name) and not any(wishes.has(other) for other in needed):
            refuse(
                Why.CONFLICTING_ATTRIBUTES,
                f"{wishes.said(name)} is of use only with {wishes.label(*needed)}, which is not "
                f"given; send it too, or leave {wishes.label(name)} out",
            )


def _check_settling(wishes: Wishes, same: SameKey, due: int | None) -> None:
    """Refuse another say on when a settling event is due."""
    if same.policy not in SETTLING:
        return
    others = [wishes.said(name) for name in _REPEATING if wishes.has(name)]
    if due is not None:
        others.append(wishes.label("deliverat", "delayby"))
    if others:
        refuse(
            Why.CONFLICTING_ATTRIBUTES,
            f"{wishes.said('onsameid')} decides itself when the message is due, and {others[0]} is "
            "given too; leave one of them out",
        )


def _check_length(wishes: Wishes, repeat: Repeat | None, timestamp: int) -> None:
    """Refuse a series that began so long ago that its occurrences cannot be numbered."""
    if repeat is None or repeat.every is None:
        return
    if (timestamp - repeat.anchor) // repeat.every > MOST:
        refuse(
            Why.INVALID_REPEAT,
            f"{wishes.said('repeatevery')} since {as_text(repeat.anchor)} "
            f"({wishes.label('deliverat', 'delayby')}) is more than {MOST} occurrences; begin "
            "later, or repeat less often",
        )


def _first(same: SameKey, repeat: Repeat | None, due: int | None, timestamp: int) -> int:
    if repeat is not None:
        return repeat.anchor
    if same.policy in SETTLING and same.settle_for is not None:
        return later(timestamp, same.settle_for)
    return timestamp if due is None else due


def _expires(wishes: Wishes, first: int) -> int | None:
    after = wishes.positive_span("expireafter", Why.INVALID_EXPIRY)
    if after is not None:
        return later(first, after)
    expires = wishes.instant("expirytime")
    if expires is not None and expires <= first:
        refuse(
            Why.INVALID_EXPIRY,
            f"{wishes.said('expirytime')} is not after the time of delivery, {as_text(first)} "
            f"({wishes.label('deliverat', 'delayby')}); send a later one",
        )
    return expires
