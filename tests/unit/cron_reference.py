"""What a cron expression matches, found minute by minute from what the clock shows."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

MINUTE = timedelta(minutes=1)

# A zone and a day (UTC) on which, or next to which, its clocks were changed, or were not.
CHANGES = [
    ("Europe/Berlin", "2026-03-29"),
    ("Europe/Berlin", "2026-10-25"),
    ("Europe/Dublin", "2026-03-29"),
    ("Europe/Dublin", "2026-10-25"),
    ("America/New_York", "2026-03-08"),
    ("America/New_York", "2026-11-01"),
    ("America/St_Johns", "2026-03-08"),
    ("America/St_Johns", "2010-03-14"),  # one minute after midnight
    ("America/St_Johns", "2010-11-07"),
    ("Australia/Lord_Howe", "2026-04-05"),  # by half an hour
    ("Australia/Lord_Howe", "2026-10-04"),
    ("Australia/Sydney", "2026-04-05"),
    ("Australia/Sydney", "2026-10-04"),
    ("America/Santiago", "2026-04-05"),
    ("America/Santiago", "2026-09-06"),  # there is no midnight
    ("America/Asuncion", "2023-03-26"),
    ("America/Asuncion", "2023-10-01"),
    ("Africa/Cairo", "2026-04-24"),
    ("Africa/Cairo", "2026-10-30"),
    ("Asia/Beirut", "2026-03-29"),
    ("Asia/Beirut", "2026-10-25"),
    ("Africa/Casablanca", "2026-02-15"),
    ("Africa/Casablanca", "2026-03-22"),
    ("Pacific/Chatham", "2026-04-05"),
    ("Pacific/Chatham", "2026-09-27"),
    ("Pacific/Apia", "2011-12-30"),  # a day that never was
    ("Asia/Kolkata", "2026-03-29"),
    ("UTC", "2026-03-29"),
]


@dataclass(frozen=True)
class Expression:
    """Five fields, each as its text and the numbers it stands for."""

    texts: tuple[str, ...]
    sets: tuple[frozenset[int], ...]

    def __str__(self) -> str:
        return " ".join(self.texts)

    @property
    def fixed(self) -> bool:
        return self.texts[0][0] != "*" and self.texts[1][0] != "*"

    def matches(self, shown: datetime) -> bool:
        minute, hour, day, month, weekday = self.sets
        by_day, by_weekday = shown.day in day, shown.isoweekday() % 7 in weekday
        either = self.texts[2][0] != "*" and self.texts[4][0] != "*"
        right_day = by_day or by_weekday if either else by_day and by_weekday
        right_time = shown.minute in minute and shown.hour in hour
        return right_time and right_day and shown.month in month


def micros(instant: datetime) -> int:
    return (instant - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def matches(expression: Expression, zone: str, after: datetime, upto: datetime) -> list[int]:
    """Return all matches after a full minute up to another; look at the clock before, too."""
    instants = _fixed(expression, zone, after - timedelta(days=2), upto)
    if not expression.fixed:
        instants = _with_star(expression, zone, after, upto)
    return [micros(instant) for instant in instants if instant > after]


def _with_star(expression: Expression, zone: str, at: datetime, upto: datetime) -> list[datetime]:
    return [t for t in _minutes(at, upto) if expression.matches(_shown(t, zone))]


def _fixed(expression: Expression, zone: str, at: datetime, upto: datetime) -> list[datetime]:
    found, reached = [], _shown(at, zone)
    for instant in _minutes(at, upto):
        shown = _shown(instant, zone)
        passed = list(_minutes(reached + MINUTE, shown))
        if any(map(expression.matches, passed)):
            found.append(instant)
        reached = max(reached, shown)
    return found


def _shown(instant: datetime, zone: str) -> datetime:
    return instant.astimezone(ZoneInfo(zone)).replace(tzinfo=None)


def _minutes(at: datetime, upto: datetime) -> Iterator[datetime]:
    while at <= upto:
        yield at
        at += MINUTE


def _field(low: int, high: int, names: dict[int, str]) -> st.SearchStrategy:
    every = frozenset(range(low, high + 1))
    number = st.integers(low, high)

    def step(n: int) -> tuple[str, frozenset[int]]:
        return f"*/{n}", frozenset(range(low, high + 1, n))

    def span(ends: tuple[int, int]) -> tuple[str, frozenset[int]]:
        first, last = sorted(ends)
        return f"{first}-{last}", frozenset(range(first, last + 1))

    def listed(numbers: list[int]) -> tuple[str, frozenset[int]]:
        return ",".join(names.get(n, str(n)) for n in numbers), frozenset(numbers)

    return st.one_of(
        st.just(("*", every)),
        st.integers(1, high).map(step),
        st.tuples(number, number).map(span),
        st.lists(number, min_size=1, max_size=3).map(listed),
    )


_MONTHS = {1: "jan", 2: "FEB", 3: "mar", 4: "Apr", 10: "OCT", 12: "dec"}
_DAYS = dict(enumerate(["SUN", "mon", "TUE", "wed", "thu", "FRI", "sat"]))


def expressions() -> st.SearchStrategy[Expression]:
    """Draw expressions; half of the months are every month, else hardly any would match."""
    every = frozenset(range(1, 13))
    fields = (
        _field(0, 59, {}),
        _field(0, 23, {}),
        _field(1, 31, {}),
        st.one_of(st.just(("*", every)), _field(1, 12, _MONTHS)),
        st.one_of(st.just(("*", frozenset(range(7)))), _field(0, 6, _DAYS)),
    )
    return st.tuples(*fields).map(
        lambda drawn: Expression(tuple(f[0] for f in drawn), tuple(f[1] for f in drawn))
    )
