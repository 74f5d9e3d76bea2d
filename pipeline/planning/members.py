"""Takes the members of a JSON object apart, each as it was written."""

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]

DEEPEST = 24  # levels of objects and arrays within a member
_BLANKS = " \t\r\n"
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{\]}]', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)


class NotAnObjectError(ValueError):
    """The text is not one JSON object, or it is nested too deeply."""


def _refuse_constant(name: str) -> None:
    raise NotAnObjectError(name)


_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_refuse_constant)


def members_of(text: str) -> dict[str, str]:
    """Return the text of each member's value; of two with one name the last counts."""
    try:
        found, end = _members(text, _past_blanks(text, 0))
    except (ValueError, IndexError, RecursionError) as error:
        raise NotAnObjectError from error
    deep = any(_depth(value) > DEEPEST for value in found.values())
    if _past_blanks(text, end) < len(text) or deep or _has_half_surrogate(text):
        raise NotAnObjectError
    return found


def scalar_text(raw: str | None) -> str | None:
    """Return a JSON string's text and any other value as it is written; None for null or none."""
    if raw is None or raw == "null":
        return None
    return str(json.loads(raw)) if raw.startswith('"') else raw


def is_nested(raw: str | None) -> bool:
    """Tell whether a value is an object or an array."""
    return raw is not None and raw[:1] in ("[", "{")


def _members(text: str, place: int) -> tuple[dict[str, str], int]:
    """Read an object that begins at ``place``; whatever is odd raises."""
    found: dict[str, str] = {}
    place = _past(text, place, "{")
    if text[place] == "}":
        return found, place + 1
    while True:
        name, place = scanstring(text, _past(text, place, '"', blanks=False), True)
        begin = _past(text, _past_blanks(text, place), ":")
        _, end = _DECODER.raw_decode(text, begin)
        found[name] = text[begin:end]
        place = _past_blanks(text, end)
        if text[place] == "}":
            return found, place + 1
        place = _past(text, place, ",")


def _past(text: str, place: int, sign: str, blanks: bool = True) -> int:
    if text[place] != sign:
        raise NotAnObjectError
    return _past_blanks(text, place + 1) if blanks else place + 1


def _past_blanks(text: str, place: int) -> int:
    while place < len(text) and text[place] in _BLANKS:
        place += 1
    return place


def _depth(raw: str) -> int:
    depth = deepest = 0
    for token in _STRING_OR_BRACKET.findall(raw):
        if token in ("[", "{"):
            depth += 1
            deepest = max(deepest, depth)
        elif token in ("]", "}"):
            depth -= 1
    return deepest


def _has_half_surrogate(text: str) -> bool:
    """Tell whether an escape stands for half of a surrogate pair, without the other half."""
    high_ends = -1
    for escape in _ESCAPE.finditer(text):
        code = int(escape[1], 16) if escape[1] else 0
        completes = high_ends == escape.start() and 0xDC00 <= code <= 0xDFFF
        if (high_ends >= 0) != completes or (not completes and 0xDC00 <= code <= 0xDFFF):
            return True
        high_ends = escape.end() if 0xD800 <= code <= 0xDBFF else -1
    return high_ends >= 0
