"""Reads instants as people write them, and tells how far away they are."""

import re
from datetime import UTC, datetime, timedelta

from state.duration import MICROS, parse_duration
from state.errors import ConfigError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_LONGEST = 36_525 * MICROS["d"]
_UNITS = ("d", "h", "m", "s", "ms")


def parse_instant(text: str, option: str, now: int) -> int:
    """Read RFC 3339, or a span from now such as ``+1h`` or ``-5m``, as microseconds."""
    if text[:1] in ("+", "-"):
        sign = -1 if text[0] == "-" else 1
        span = _span(text[1:], option)
        if span > _LONGEST:
            raise ConfigError(f"{option}: {text!r} is more than a hundred years; give less")
        return now + sign * span
    return (parse_rfc3339(text, option) - _EPOCH) // _MICROSECOND


def parse_rfc3339(text: str, option: str) -> datetime:
    """Read an instant with its offset from UTC."""
    try:
        if _RFC_3339.fullmatch(text):
            return datetime.fromisoformat(text.upper())
    except ValueError:
        pass  # such as the 30th of February: told like any other text that is no instant
    raise ConfigError(
        f"{option}: {text!r} is no instant; write it with its offset from UTC, "
        "such as 2030-01-31T09:00:00Z or 2030-01-31T10:00:00+01:00"
    )


def relative_text(instant: int, now: int) -> str:
    """Tell how far an instant is from now: ``in 2h 5m``, ``3s ago``."""
    span = span_text(abs(instant - now))
    return f"in {span}" if instant > now else f"{span} ago"


def span_text(micros: int) -> str:
    """Write a span with its two largest units."""
    parts: list[str] = []
    for unit in _UNITS:
        count, micros = divmod(micros, MICROS[unit])
        if count or (parts and unit != "ms"):
            parts.append(f"{count}{unit}")
        if len(parts) == 2:
            break
    return " ".join(part for part in parts if part[0] != "0") or "0ms"


def _span(text: str, option: str) -> int:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise ConfigError(f"{option}: {error}") from error
