"""Says when a message that repeats is due next."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import NamedTuple

from state.duration import FOREVER
from state.rules.cron import count_matches, next_match, nth_match

MOST = 2**31 - 1  # the last number that an occurrence may have


class OnMiss(StrEnum):
    """What to do about occurrences that were missed, after the job had been down for long."""

    ALL = "all"  # send every one of them, one after the other
    LAST = "last"  # send the newest of them, and go on from there
    SKIP = "skip"  # send none of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """How a message repeats: by an interval or by a cron expression, one of both.

    Occurrences are numbered from 0. Occurrence k of an interval is ``anchor + k * every``, however
    late each was sent. Occurrence 0 of a cron expression is ``anchor``, even where the expression
    does not match it; the others are its matches after that.

    ``count`` is the number of occurrences in the series; those that are skipped count too, so 3
    means the occurrences 0, 1 and 2. Nothing comes after ``until``, which itself belongs to the
    series.
    """

    every: int | None = None
    cron: str | None = None
    tz: str = "UTC"
    until: int | None = None
    count: int | None = None
    anchor: int
    on_miss: OnMiss = OnMiss.LAST


class Following(NamedTuple):
    """An occurrence: its instant, its number, and how many were passed over to come to it."""

    scheduled: int
    occurrence: int
    skipped: int


def following(
    repeat: Repeat, scheduled: int, occurrence: int, now: int, miss_after: int
) -> Following | None:
    """Return what follows the occurrence at ``scheduled``, or None when the series is over.

    An occurrence counts as missed when its instant lies more than ``miss_after`` before ``now``.
    If the next one is not missed, it is the answer. Else ``all`` answers with it nevertheless,
    ``last`` with the newest that is missed (the last of the series if it ended before that), and
    ``skip`` with the first that is not missed, which may be past the end of the series.
    """
    missed_upto = now - miss_after - 1
    step = 1
    if repeat.on_miss == OnMiss.LAST:
        missed = _count(repeat, scheduled, occurrence, missed_upto)
        step = max(1, min(missed, _left(repeat, occurrence)))
    elif repeat.on_miss == OnMiss.SKIP:
        step = 1 + _count(repeat, scheduled, occurrence, missed_upto)
    return _nth(repeat, scheduled, occurrence, step)


def missed_from(repeat: Repeat, scheduled: int, occurrence: int, miss_after: int) -> int | None:
    """Return the instant from which on an occurrence is not sent any more, if there is one.

    With ``skip`` that is when it counts as missed; with ``last``, when the one after it does, for
    then it is no longer the newest; with ``all`` it is sent however late.
    """
    if repeat.on_miss == OnMiss.ALL:
        return None
    newest = scheduled
    if repeat.on_miss == OnMiss.LAST:
        after = _nth(repeat, scheduled, occurrence, 1)
        if after is None:
            return None
        newest = after.scheduled
    return newest + miss_after + 1


def occurrences(
    repeat: Repeat, first: int, occurrence: int = 0, limit: int | None = None
) -> Iterator[Following]:
    """Yield the occurrence at ``first`` and those that follow it, up to ``limit``, none skipped."""
    return islice(_series(repeat, first, occurrence), limit)


def _series(repeat: Repeat, first: int, occurrence: int) -> Iterator[Following]:
    following: Following | None = Following(first, occurrence, 0)
    while following is not None:
        yield following
        following = _nth(repeat, following.scheduled, following.occurrence, 1)


def _left(repeat: Repeat, occurrence: int) -> int:
    """Return how many may follow by number; without a limit, more than there can be."""
    return 1 << 62 if repeat.count is None else repeat.count - 1 - occurrence


def _count(repeat: Repeat, scheduled: int, occurrence: int, upto: int) -> int:
    """Return how many of the series follow the present one, up to and with the instant ``upto``."""
    upto = upto if repeat.until is None else min(upto, repeat.until)
    if repeat.every is not None:
        return max(0, (upto - repeat.anchor) // repeat.every - occurrence)
    return count_matches(repeat.cron or "", repeat.tz, scheduled, upto)


def _nth(repeat: Repeat, scheduled: int, occurrence: int, n: int) -> Following | None:
    """Return the n-th after the present one, or None when the series ends before it."""
    instant = _instant(repeat, scheduled, occurrence, n)
    if instant is None or n > _left(repeat, occurrence):
        return None
    if repeat.until is not None and instant > repeat.until:
        return None
    if instant > FOREVER or occurrence + n > MOST:
        return None
    return Following(instant, occurrence + n, n - 1)


def _instant(repeat: Repeat, scheduled: int, occurrence: int, n: int) -> int | None:
    if repeat.every is not None:
        return repeat.anchor + (occurrence + n) * repeat.every
    expression = repeat.cron or ""
    before = scheduled if n == 1 else nth_match(expression, repeat.tz, scheduled, n - 1)
    return None if before is None else next_match(expression, repeat.tz, before)
