"""The attributes of one event by name, read as the kinds of value they are."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from state.duration import MICROS, parse_duration
from state.rules.instant import parse_instant
from state.rules.refusal import Why, refuse

_SHOWN = 80  # characters of a value that a sentence repeats
_LATEST = 2**63 - 1
_LONGEST = 36_525 * MICROS["d"]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_WHOLE = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Wishes:
    """What an event asks for; ``names`` says how its form calls an attribute, for sentences."""

    asked: Mapping[str, str]
    names: Mapping[str, str]

    def has(self, name: str) -> bool:
        """Tell whether the attribute is given."""
        return self.asked.get(name) is not None

    def label(self, *names: str) -> str:
        """Return what the event calls the attributes: one, or one or another."""
        return " or ".join(self.names.get(name, name) for name in names)

    def said(self, name: str) -> str:
        """Return what the event calls the attribute, and its value in quotes, cut short."""
        value = self.asked[name]
        shown = value if len(value) <= _SHOWN else f"{value[:_SHOWN]}..."
        return f"{self.label(name)} '{shown}'"

    def instant(self, name: str) -> int | None:
        """Return the instant, if given."""
        return self._read(name, parse_instant, Why.INVALID_TIME, _INSTANT)

    def span(self, name: str) -> int | None:
        """Return the duration in microseconds, if given."""
        span = self._read(name, parse_duration, Why.INVALID_DURATION, _SPAN)
        if span is not None and span > _LONGEST:
            refuse(
                Why.INVALID_DURATION, f"{self.said(name)} is more than 100 years; check its unit"
            )
        return span

    def positive_span(self, name: str, reason: Why) -> int | None:
        """Return the duration, if given; none at all is refused."""
        span = self.span(name)
        if span == 0:
            refuse(reason, f"{self.said(name)} is no time at all; send a longer duration")
        return span

    def whole(self, name: str, least: int, reason: Why) -> int | None:
        """Return the whole number, if given."""
        if not self.has(name):
            return None
        text = self.asked[name]
        number = int(text) if _WHOLE.fullmatch(text) else -1
        if number < least:
            way_out = f"send one from {least} to 999999999"
            refuse(reason, f"{self.said(name)} is not a whole number that is allowed; {way_out}")
        return number

    def _read(self, name: str, parse: Callable[[str], int], reason: Why, advice: str) -> int | None:
        if not self.has(name):
            return None
        try:
            return parse(self.asked[name])
        except ValueError:
            return refuse(reason, f"{self.said(name)} {advice}")


_INSTANT = (
    "is not an instant; write it as 2030-01-31T09:00:00Z, with an offset and without leap seconds"
)
_SPAN = "is not a duration; write for example PT15M, P7D, 90s or 1h30m"


def later(instant: int, span: int) -> int:
    """Return the instant so much later, or the last there is."""
    return min(instant + span, _LATEST)


def as_text(instant: int) -> str:
    """Return an instant for a sentence."""
    try:
        return (_EPOCH + timedelta(microseconds=instant)).isoformat().replace("+00:00", "Z")
    except OverflowError:
        return f"{instant} microseconds after the epoch"
