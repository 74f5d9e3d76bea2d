"""Reads spans of time as people write them: ``1h30m``, ``250ms``, ``PT15M``, ``P7D``."""

import re
from fractions import Fraction
from typing import Annotated

from pydantic import BeforeValidator

MICROS = {
    "us": 1,
    "µs": 1,  # the micro sign, and the Greek letter
    "μs": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "m": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
    "w": 604_800_000_000,
}
FOREVER = 4 * 10**18  # longer spans are cut to this; it may be added to an instant still
_NANOS = "ns"
_AMOUNT = r"[0-9]+(?:\.[0-9]{1,9})?"
_GO = re.compile(rf"(?:{_AMOUNT}(?:ns|us|µs|μs|ms|s|m|h|d))+")
_ISO = re.compile(
    r"P(?=[0-9T])(?:[0-9]+W)?(?:[0-9]+D)?"
    r"(?:T(?=[0-9])(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+(?:[.,][0-9]{1,9})?S)?)?"
)
_PART = re.compile(rf"({_AMOUNT})([a-zµμ]+)")
_MOST_DIGITS = 19  # before the point; Spark's decimals hold no more


def parse_duration(text: str) -> int:
    """Return the microseconds in ``text``; ValueError with a sentence when it is no duration.

    The whole is rounded up to a microsecond, and a delay is read in the same way from an event.
    """
    if _ISO.fullmatch(text):
        spelled = text.translate(_ISO_AS_GO)
    elif _GO.fullmatch(text):
        spelled = text
    else:
        raise ValueError(_advice(text))
    micros = sum(_micros(amount, unit) for amount, unit in _PART.findall(spelled))
    return min(-(-micros // 1), FOREVER)


_ISO_AS_GO = {ord("P"): "", ord("T"): "", ord(","): "."} | {ord(u): u.lower() for u in "WDHMS"}


def _micros(amount: str, unit: str) -> Fraction:
    """Return a part, rounded to a millionth: a product of Spark's decimals is no finer."""
    if len(amount.partition(".")[0].lstrip("0")) > _MOST_DIGITS:
        return Fraction(FOREVER)
    exact = Fraction(amount) * (Fraction(1, 1_000) if unit == _NANOS else MICROS[unit])
    return Fraction(int(exact * 1_000_000 + Fraction(1, 2)), 1_000_000)


def _advice(text: str) -> str:
    return f"{text!r} is not a duration; write for example 500ms, 90s, 1h30m, 7d or PT15M"


def _as_micros(value: object) -> int:
    if isinstance(value, str):
        return parse_duration(value)
    if isinstance(value, int) and not isinstance(value, bool) and value == 0:
        return 0
    raise ValueError(f"{value!r} has no unit; write for example 500ms, 90s, 1h30m or 7d")


# A setting given as text and held in microseconds.
Duration = Annotated[int, BeforeValidator(_as_micros)]
