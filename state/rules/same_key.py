"""Decides what a new event does to the pending one of the same key.

Only light facts are looked at: when the pending one is due and what its policy says; never its
payload. What a later event is to be compared with is in the policy (``compare``) since the event
was read. The policy of the NEW event counts, whatever the pending one asked for:

- *replace*: the new one is taken.
- *keep*: it is ignored while one is pending.
- *ignoreduplicate*: it is ignored when it equals the pending one: in its payload or one field of
  it, whatever its time, topic and headers.
- *ignoresmallchange*: it is ignored when its number differs by less than the least deviation, or
  not at all.
- *settle*: it is taken, and due ``settle_for`` after it came, but at most ``settle_max`` after the
  first of the series came. *debounce* has no such maximum. *throttle* is settle with a maximum of
  ``settle_for``: one message for each such span, with the newest content.

Two events can be compared when both were read with the same ``comparefield`` (or both as a whole).
A pending one that cannot be compared, say because a plain event came first, counts as different.
"""

from dataclasses import dataclass, replace
from decimal import Context, Decimal
from enum import StrEnum

from state.rules.numbers import exact_number
from state.rules.policy import Policy
from state.rules.same_policy import COMPARING, SETTLING, SameKey, SamePolicy

__all__ = ["Ignore", "Ignored", "SameKey", "SamePolicy", "Standing", "Take", "Verdict", "judge"]

_EXACT = Context(prec=4_000)  # numbers of 400 digits and exponents up to 400 on either side


class Ignored(StrEnum):
    """Why an event was ignored."""

    KEPT_FIRST = "kept_first"
    DUPLICATE = "duplicate"
    SMALL_CHANGE = "small_change"


@dataclass(frozen=True, slots=True)
class Standing:
    """The light facts of an event, pending or new: all are found in its row."""

    due: int
    policy: Policy


@dataclass(frozen=True, slots=True)
class Take:
    """The new event stands from now on, with this due and this policy."""

    due: int
    policy: Policy


@dataclass(frozen=True, slots=True)
class Ignore:
    """The pending event stands as before."""

    reason: Ignored


Verdict = Take | Ignore


def judge(pending: Standing | None, new: Standing, at: int) -> Verdict:
    """Decide on an event whose record bears the timestamp ``at``."""
    same = new.policy.same
    if same.policy in SETTLING:
        return _settled(pending, new, at)
    reason = None if pending is None else _why_ignored(pending, new)
    return Take(new.due, new.policy) if reason is None else Ignore(reason)


def _why_ignored(pending: Standing, new: Standing) -> Ignored | None:
    same = new.policy.same
    if same.policy is SamePolicy.KEEP:
        return Ignored.KEPT_FIRST
    if same.policy not in COMPARING or not _comparable(pending.policy, new.policy):
        return None
    if same.policy is SamePolicy.IGNORE_DUPLICATE:
        return Ignored.DUPLICATE if pending.policy.compare == new.policy.compare else None
    return Ignored.SMALL_CHANGE if _is_small(pending.policy, new.policy) else None


def _comparable(pending: Policy, new: Policy) -> bool:
    both = pending.compare is not None and new.compare is not None
    return both and pending.same.compare_field == new.same.compare_field


def _is_small(pending: Policy, new: Policy) -> bool:
    """Tell whether the change is less than the least deviation; no change at all always is.

    A deviation in percent is of the pending number, so any change of a 0 is large.
    """
    old, now = exact_number(pending.compare), exact_number(new.compare)
    least = new.same.min_deviation
    if old is None or now is None or least is None:
        return False
    change = _EXACT.abs(_EXACT.subtract(now, old))
    return change == 0 or change < _threshold(least, old)


def _threshold(least: str, old: Decimal) -> Decimal:
    if not least.endswith("%"):
        return Decimal(least)
    return _EXACT.multiply(_EXACT.abs(old), Decimal(least.removesuffix("%")).scaleb(-2, _EXACT))


def _settled(pending: Standing | None, new: Standing, at: int) -> Take:
    """Return when the series is due; it began with the pending event if that one settles too."""
    same = new.policy.same
    begun = None if pending is None else pending.policy.first
    first = at if begun is None else begun
    wait = same.settle_for or 0
    longest = wait if same.policy is SamePolicy.THROTTLE else same.settle_max
    due = max(at, first) + wait
    due = due if longest is None else min(due, first + longest)
    return Take(due, replace(new.policy, first=first))
