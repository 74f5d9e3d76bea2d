"""Knows how far the clocks of a time zone stand from UTC, and when they are put forward or back."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo, available_timezones

DAY = 86_400
_BLOCK = 64 * DAY  # clocks are looked at for so long at a time
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Between the years 2 and 9998 every zone's clock shows a date that Python has.
EARLIEST = -62_104_060_800
LATEST = 253_339_228_800


class Stretch(NamedTuple):
    """A time with one offset: from one instant to before another, all in seconds."""

    begins: int
    ends: int
    offset: int


def is_zone(name: str) -> bool:
    """Tell whether ``name`` is a zone of the IANA data base, spelled as there."""
    return name in _names()


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    return frozenset(available_timezones())


def stretches(zone: str, begins: int, ends: int) -> Iterator[Stretch]:
    """Cut the time from ``begins`` to before ``ends`` where the clocks of ``zone`` are changed."""
    begins, ends = max(begins, EARLIEST), min(ends, LATEST)
    if begins >= ends:
        return
    offset = _offset(zone, begins)
    for block in range(begins // _BLOCK, (ends - 1) // _BLOCK + 1):
        for changed_at, new_offset in _changes(zone, block):
            if begins < changed_at < ends:
                yield Stretch(begins, changed_at, offset)
                begins, offset = changed_at, new_offset
    yield Stretch(begins, ends, offset)


@lru_cache(maxsize=8192)
def _changes(zone: str, block: int) -> tuple[tuple[int, int], ...]:
    """Return the changes after the first second of a block, up to that of the next.

    The clock is looked at once a day: nowhere was it changed twice within less than three days.
    """
    found = []
    start = max(block * _BLOCK, EARLIEST)
    for day in range(start, min((block + 1) * _BLOCK, LATEST), DAY):
        before, after = _offset(zone, day), _offset(zone, day + DAY)
        if before != after:
            found.append((_first_with(zone, after, day, day + DAY), after))
    return tuple(found)


def _first_with(zone: str, offset: int, without: int, having: int) -> int:
    while having - without > 1:
        middle = (without + having) // 2
        if _offset(zone, middle) == offset:
            having = middle
        else:
            without = middle
    return having


def _offset(zone: str, instant: int) -> int:
    shown = (_EPOCH + timedelta(seconds=instant)).astimezone(ZoneInfo(zone))
    away = shown.utcoffset()
    return away.days * DAY + away.seconds if away is not None else 0
