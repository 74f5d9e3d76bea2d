"""Finds the times a cron expression names, on a clock that is never put forward or back.

Such a clock counts seconds from the epoch as if there were no zones. All is found by looking at
days, never minute by minute, so that a gap of years is counted as quickly as it is crossed.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import product

from cronsim import CronSim

from state.rules.cron_text import simulate
from state.rules.zones import DAY

_EPOCH = date(1970, 1, 1).toordinal()
_LAST = date.max.toordinal() - _EPOCH


@dataclass(frozen=True, slots=True, eq=False)
class CronTimes:
    """Five fields, read. ``fixed``: neither the minute nor the hour begins with a star."""

    fields: str
    fixed: bool
    seconds: tuple[int, ...]  # of a day that matches
    months: frozenset[int]
    calendar: CronSim

    def first(self, begins: int, ends: int) -> int | None:
        """Return the first time from ``begins`` to before ``ends``."""
        return self.nth(1, begins, ends)

    def count(self, begins: int, ends: int) -> int:
        """Return how many times lie from ``begins`` to before ``ends``."""
        return sum(high - low for _, low, high in self._days(begins, ends))

    def nth(self, n: int, begins: int, ends: int) -> int | None:
        """Return the n-th time from ``begins`` on, if it comes before ``ends``."""
        for day, low, high in self._days(begins, ends):
            if n <= high - low:
                return day * DAY + self.seconds[low + n - 1]
            n -= high - low
        return None

    def _days(self, begins: int, ends: int) -> Iterator[tuple[int, int, int]]:
        """Yield each day that matches with the part of ``seconds`` that lies in the span."""
        for day in _days_between(self, begins // DAY, min((ends - 1) // DAY, _LAST)):
            low = bisect_left(self.seconds, begins - day * DAY)
            high = bisect_left(self.seconds, ends - day * DAY)
            yield day, low, high


@lru_cache(maxsize=4096)
def cron_times(fields: str) -> CronTimes:
    """Return what five fields name; they must be as ``read_cron`` returns them."""
    minute, hour, day, month, weekday = fields.split()
    read = simulate(f"{minute} {hour} {day} * {weekday}")
    seconds = sorted(h * 3_600 + m * 60 for h, m in product(read.hours, read.minutes))
    fixed = not minute.startswith("*") and not hour.startswith("*")
    months = frozenset(simulate(f"0 0 1 {month} *").months)
    return CronTimes(fields, fixed, tuple(seconds), months, read)


def _days_between(times: CronTimes, first: int, last: int) -> Iterator[int]:
    if first > last:
        return
    begin, end = date.fromordinal(first + _EPOCH), date.fromordinal(last + _EPOCH)
    for month in range(begin.year * 12 + begin.month - 1, end.year * 12 + end.month):
        if month % 12 + 1 in times.months:
            yield from (d for d in _days_of_month(times, month) if first <= d <= last)


@lru_cache(maxsize=16384)
def _days_of_month(times: CronTimes, month: int) -> tuple[int, ...]:
    first = date(month // 12, month % 12 + 1, 1)
    days = (date.fromordinal(first.toordinal() + n) for n in range(31))
    matching = (d for d in days if d.month == first.month and times.calendar.match_day(d))
    return tuple(d.toordinal() - _EPOCH for d in matching)
