"""Finds the instants a cron expression names in a time zone.

Where the clocks of the zone are changed, the rule is that of the cron of Debian:

- A job at fixed times (neither its minute nor its hour begins with ``*``, as in ``30 2 * * *``)
  runs once for each of its times, when the clock first shows that time or jumps over it. Times that
  a clock put forward leaves out run at the instant of the jump, several of them once. Times that a
  clock put back shows again run the first time only.
- A job with a star (``*/15 * * * *``, ``0 * * * *``, ``*/5 2 * * *``) follows the clock: what the
  clock leaves out does not run, what it shows twice runs twice.

Instants are microseconds since the epoch; those of one expression are strictly increasing. Only the
years 2 to 9998 are looked at.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from state.rules.cron_text import read_cron
from state.rules.cron_times import CronTimes, cron_times
from state.rules.zones import DAY, LATEST, stretches

_SECOND = 1_000_000
_LOOK_BACK = 3 * DAY  # no clock was ever put back by more than a day
_NEVER = 50 * 366 * DAY  # a 29 February that is a Sunday may take 40 years to come


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of what the clock shows, in which time on the clock is time plus an offset.

    With ``at``: a part the clock jumps over, and the first second after it; it happens at once.
    """

    begins: int
    ends: int
    offset: int
    at: int | None = None

    def count(self, times: CronTimes) -> int:
        if self.at is not None:
            return 0 if times.first(self.begins, self.ends) is None else 1
        return times.count(self.begins, self.ends)

    def nth(self, times: CronTimes, n: int) -> int | None:
        shown = times.nth(n, self.begins, self.ends)
        if shown is None or self.at is None:
            return None if shown is None else shown - self.offset
        return self.at if n == 1 else None


def next_match(expression: str, tz: str, after: int) -> int | None:
    """Return the first match after ``after``, or None when there is none within 50 years."""
    times, after = _times(expression), after // _SECOND
    for piece in _pieces(times, tz, after, after + _NEVER):
        found = piece.nth(times, 1)
        if found is not None:
            return found * _SECOND
    return None


def count_matches(expression: str, tz: str, after: int, upto: int) -> int:
    """Return how many matches lie after ``after``, up to and with ``upto``."""
    times = _times(expression)
    pieces = _pieces(times, tz, after // _SECOND, upto // _SECOND + 1)
    return sum(piece.count(times) for piece in pieces)


def nth_match(expression: str, tz: str, after: int, n: int) -> int | None:
    """Return the n-th match after ``after``, or None when 50 years go by without one before it."""
    times, after = _times(expression), after // _SECOND
    while after < LATEST:
        left = n
        for piece in _pieces(times, tz, after, after + 1 + _NEVER):
            found = piece.nth(times, n)
            if found is not None:
                return found * _SECOND
            n -= piece.count(times)
        if left == n:
            return None
        after += _NEVER
    return None


def _times(expression: str) -> CronTimes:
    fields = read_cron(expression).fields
    if fields is None:
        raise ValueError("@every is an interval; it names no times of the day")
    return cron_times(fields)


def _pieces(times: CronTimes, tz: str, after: int, ends: int) -> Iterator[_Piece]:
    """Yield what the clock shows after one instant and before another, in order, in seconds."""
    reached: int | None = None  # the latest the clock has shown
    for begins, stop, offset in stretches(tz, after - _LOOK_BACK, ends):
        shown = begins + offset
        if times.fixed and reached is not None:
            if shown > reached and begins > after:
                yield _Piece(reached, shown + 1, offset, at=begins)
            shown = shown + 1 if shown > reached else reached
        shown = max(shown, after + 1 + offset)
        if shown < stop + offset:
            yield _Piece(shown, stop + offset, offset)
        reached = stop + offset if reached is None else max(reached, stop + offset)
