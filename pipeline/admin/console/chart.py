"""Lays out a chart of bars: what falls due in each step of time.

Places across are per cent of the width, so that a chart fits any screen with its texts unchanged;
those from top to bottom are pixels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.admin.console.formats import clock, day

HEIGHT, TOP, BOTTOM = 170, 16, 22
_NICE = (1, 2, 5)
_MINUTE = 60_000_000
_DAY = 1_440 * _MINUTE
_LABELS = 7
_APART = [n * _MINUTE for n in (10, 30, 60, 240)] + [_DAY, 7 * _DAY]  # from label to label


@dataclass(frozen=True, slots=True)
class Bar:
    """What falls due in one step: how many, and where its two parts stand."""

    at: int
    waiting: int
    repeats: int
    x: float
    width: float
    waiting_top: float
    waiting_height: float
    repeats_top: float
    repeats_height: float

    @property
    def total(self) -> int:
        """All that falls due."""
        return self.waiting + self.repeats


@dataclass(frozen=True, slots=True)
class Tick:
    """A line with a label."""

    place: float
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    """All there is to draw."""

    bars: Sequence[Bar]
    lines: Sequence[Tick]  # across, with a count
    marks: Sequence[Tick]  # below, with a time
    step: int

    @property
    def total(self) -> int:
        """All that falls due."""
        return sum(bar.total for bar in self.bars)

    @property
    def most(self) -> Bar | None:
        """The highest bar, None when nothing is due."""
        return max((bar for bar in self.bars if bar.total), key=lambda bar: bar.total, default=None)


def bars(counts: Mapping[int, tuple[int, int]], first: int, steps: int, step: int) -> Chart:
    """Lay out counts by the begin of their step; what lies before the first counts with it."""
    found = [[0, 0] for _ in range(steps)]
    for at, (waiting, repeats) in counts.items():
        place = max(0, (at - first) // step)
        if place < steps:
            found[place][0] += waiting
            found[place][1] += repeats
    top = _ceiling(max((sum(both) for both in found), default=0))
    wide = 100 / steps
    drawn = [
        _bar(first + n * step, waiting, repeats, n, wide, top)
        for n, (waiting, repeats) in enumerate(found)
    ]
    return Chart(drawn, _lines(top), _marks(first, steps, step, wide), step)


def _bar(at: int, waiting: int, repeats: int, n: int, wide: float, top: int) -> Bar:
    room, ground = HEIGHT - TOP - BOTTOM, HEIGHT - BOTTOM
    low, high = room * waiting / top, room * repeats / top
    return Bar(
        at=at,
        waiting=waiting,
        repeats=repeats,
        x=round((n + 0.06) * wide, 3),
        width=round(0.88 * wide, 3),
        waiting_top=round(ground - low, 2),
        waiting_height=round(low, 2),
        repeats_top=round(ground - low - high, 2),
        repeats_height=round(high, 2),
    )


def _ceiling(most: int) -> int:
    """Return a round number that is not less."""
    power = 1
    while True:
        for digit in _NICE:
            if digit * power >= most:
                return max(2, digit * power)
        power *= 10


def _lines(top: int) -> list[Tick]:
    room = HEIGHT - TOP - BOTTOM
    return [
        Tick(round(HEIGHT - BOTTOM - room * part / 2, 2), f"{top * part // 2:,}")
        for part in range(3)
    ]


def _marks(first: int, steps: int, step: int, wide: float) -> list[Tick]:
    """Label about six places, at round times."""
    apart = next((each for each in _APART if steps * step / each <= _LABELS), _APART[-1])
    tell = day if apart >= _DAY else clock
    times = range(-(-first // apart) * apart, first + steps * step, apart)
    middle = 0.5 if apart == step else 0  # of a bar that has a label of its own
    return [Tick(round(((at - first) / step + middle) * wide, 3), tell(at)) for at in times]
