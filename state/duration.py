"""Reads spans of time as people write them: ``1h30m``, ``250ms``, ``PT15M``, ``P7D``."""

import re
from decimal import Decimal
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
}
_NANOS = "ns"
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ns|us|µs|μs|ms|s|m|h|d)")
_ISO = re.compile(
    r"P(?:(?P<w>[0-9]+)W)?(?:(?P<d>[0-9]+)D)?"
    r"(?:T(?:(?P<h>[0-9]+)H)?(?:(?P<m>[0-9]+)M)?(?:(?P<s>[0-9]+(?:[.,][0-9]{1,9})?)S)?)?"
)


def parse_duration(text: str) -> int:
    """Return the microseconds in ``text``; ValueError with a sentence when it is no duration."""
    if text in ("", "P") or text.endswith("T"):
        raise ValueError(_advice(text))
    iso = _ISO.fullmatch(text)
    if iso:
        days = int(iso["w"] or 0) * 7 + int(iso["d"] or 0)
        seconds = Decimal((iso["s"] or "0").replace(",", "."))
        return (
            days * MICROS["d"]
            + int(iso["h"] or 0) * MICROS["h"]
            + int(iso["m"] or 0) * MICROS["m"]
            + round(seconds * MICROS["s"])
        )
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(_advice(text))
    return sum(_micros(Decimal(number), unit) for number, unit in parts)


def _micros(number: Decimal, unit: str) -> int:
    return round(number / 1_000 if unit == _NANOS else number * MICROS[unit])


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
