"""Reads a cron expression as people write it.

Five fields (minute, hour, day of month, month, day of week) with names (``MON``, ``JAN``), lists,
ranges and steps, in upper or lower case; ``@hourly`` and its like; ``@every 90s``, which is an
interval and no cron at all; any of them after ``CRON_TZ=Area/City`` or ``TZ=Area/City``. Besides,
what the library reads: ``L`` and ``LW`` as day of month, ``5L`` and ``MON#2`` as day of week.
"""

from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from cronsim import CronSim, CronSimError

from state.duration import parse_duration
from state.rules.zones import is_zone

_LONGEST = 512  # every minute and every day, spelled out, is shorter
_NICKNAMES = {
    "@HOURLY": "0 * * * *",
    "@DAILY": "0 0 * * *",
    "@MIDNIGHT": "0 0 * * *",
    "@WEEKLY": "0 0 * * 0",
    "@MONTHLY": "0 0 1 * *",
    "@YEARLY": "0 0 1 1 *",
    "@ANNUALLY": "0 0 1 1 *",
}
_EVERY = "@EVERY"
_PREFIXES = ("CRON_TZ=", "TZ=")
_SOME_TIME = datetime(2000, 1, 1, tzinfo=UTC)


class CronText(NamedTuple):
    """What an expression says: five fields or an interval in microseconds, and maybe a zone."""

    zone: str | None
    fields: str | None
    every: int | None


@lru_cache(maxsize=4096)
def read_cron(text: str) -> CronText:
    """Read an expression; ValueError with a sentence when it is none."""
    words = text.split(" ") if text.isascii() and text.isprintable() else []
    words = [word for word in words if word]
    if not words or len(text) > _LONGEST:
        raise ValueError(_advice())
    zone = _zone(words[0])
    words = words if zone is None else words[1:]
    if words and words[0].upper() == _EVERY:
        return CronText(zone, None, _interval(words[1:]))
    return CronText(zone, _fields(words), None)


def _zone(word: str) -> str | None:
    for prefix in _PREFIXES:
        if word.startswith(prefix):
            zone = word.removeprefix(prefix)
            if not is_zone(zone):
                raise ValueError("its time zone is unknown; name one such as Europe/Berlin or UTC")
            return zone
    return None


def _interval(words: list[str]) -> int:
    try:
        every = parse_duration(" ".join(words))
    except ValueError:
        every = 0
    if every <= 0:
        raise ValueError("@every needs a duration; write for example @every 90s or @every 1h30m")
    return every


def _fields(words: list[str]) -> str:
    fields = _NICKNAMES.get(words[0].upper(), "").split() if len(words) == 1 else words
    if len(fields) != 5:
        raise ValueError(_advice())
    minute, hour, day, month, weekday = [field.upper() for field in fields]
    # Apart, because the library takes a day that its month never has for an error.
    simulate(f"{minute} {hour} {day} * {weekday}")
    simulate(f"0 0 1 {month} *")
    return " ".join((minute, hour, day, month, weekday))


def simulate(fields: str) -> CronSim:
    """Let the library read five fields; ValueError naming the field it cannot read."""
    try:
        return CronSim(fields, _SOME_TIME)
    except CronSimError as error:
        raise ValueError(f"{str(error).lower()}; {_example()}") from error
    except (AssertionError, TypeError) as error:  # a step after L or MON#2
        raise ValueError(_advice()) from error


def _advice() -> str:
    return f"it needs five fields, minute, hour, day, month and weekday; {_example()}"


def _example() -> str:
    return "write for example '30 9 * * MON-FRI', '*/15 * * * *' or @daily"
