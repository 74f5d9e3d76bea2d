"""Writes numbers so that equal ones are equal texts, whatever their size, and reads them back."""

import re
from decimal import Decimal

_NUMBER = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,18}))?")
_PLAIN = 40  # longer than this it is written with an exponent
_LONGEST = 400  # digits, and the farthest place before or after the point


def number_text(text: str) -> str:
    """Return the one text of a number, given as JSON has it: ``1.0``, ``10e-1`` are both ``1``.

    No digit is lost. An exponent of more than 18 digits is left as it is.
    """
    parts = _NUMBER.fullmatch(text)
    if parts is None:
        return text.upper()
    sign, whole, fraction, exponent = parts.groups(default="")
    digits = (whole + fraction).lstrip("0")
    short = digits.rstrip("0")
    places = int(exponent or 0) - len(fraction) + len(digits) - len(short)
    return sign + _written(short, places) if short else "0"


def _written(digits: str, places: int) -> str:
    """Write ``digits`` times ten to the power of ``places``."""
    before_point = len(digits) + places
    if not -_PLAIN < places < _PLAIN or len(digits) > _PLAIN:
        return f"{digits}E{places:+d}" if places else digits
    if places >= 0:
        return digits + "0" * places
    if before_point > 0:
        return f"{digits[:before_point]}.{digits[before_point:]}"
    return "0." + "0" * -before_point + digits


def exact_number(text: str | None) -> Decimal | None:
    """Return the number that ``text`` is, or None: no number, or one too long to reckon with."""
    parts = None if text is None else _NUMBER.fullmatch(text)
    if parts is None or text is None:
        return None
    _, whole, fraction, exponent = parts.groups(default="")
    too_long = len(whole) + len(fraction) > _LONGEST or abs(int(exponent or 0)) > _LONGEST
    return None if too_long else Decimal(text)
