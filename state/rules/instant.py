"""Reads instants in the form of RFC 3339, as strictly as the dialects do."""

import re
from datetime import date

# Offsets up to 18 hours, as Spark knows them; none in use is larger than 14.
_RFC_3339 = re.compile(
    r"(?!0000)([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"[Tt]([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])(?:\.([0-9]{1,9}))?"
    r"(?:[Zz]|([+-])((?:0[0-9]|1[0-7]):[0-5][0-9]|18:00))"
)
_EPOCH = date(1970, 1, 1).toordinal()


def parse_instant(text: str) -> int:
    """Return the microseconds since the epoch, rounded up so that nothing is early.

    The offset is required, blanks and leap seconds are not allowed, ``t`` and ``z`` may be in lower
    case. ValueError with a sentence when ``text`` is no instant, or a day that never was.
    """
    parts = _RFC_3339.fullmatch(text)
    if parts is None:
        raise ValueError(_ADVICE)
    year, month, day, hour, minute, second, fraction, sign, offset = parts.groups()
    minutes = int(hour) * 60 + int(minute) - _minutes(sign, offset)
    seconds = (_day(year, month, day) - _EPOCH) * 86_400 + minutes * 60 + int(second)
    nanos = int((fraction or "").ljust(9, "0"))
    return seconds * 1_000_000 - (-nanos // 1_000)


_ADVICE = "it is not an instant; write it as 2030-01-31T09:00:00Z, with an offset"


def _day(year: str, month: str, day: str) -> int:
    try:
        return date(int(year), int(month), int(day)).toordinal()
    except ValueError as error:
        raise ValueError(_ADVICE) from error


def _minutes(sign: str | None, offset: str | None) -> int:
    if offset is None:
        return 0
    away = int(offset[:2]) * 60 + int(offset[3:])
    return -away if sign == "-" else away
