"""Shows bytes as text, as JSON or as hex, as much of them as a page can bear."""

import json
from dataclasses import dataclass
from typing import Literal

from pipeline.keys import payload_text

View = Literal["text", "json", "hex"]

MOST_TEXT = 100_000  # characters that are shown
MOST_HEX = 8_192  # bytes
_ROW = 16
_DEEPEST = 64


@dataclass(frozen=True, slots=True)
class Shown:
    """A payload in one view."""

    view: View
    views: tuple[View, ...]  # those it can be shown in
    text: str
    size: int
    cut: bool  # whether there is more than is shown


def shown(payload: bytes, view: str = "") -> Shown:
    """Return a payload in the view asked for, or in the first that suits it."""
    text = payload_text(payload)
    pretty = None if text is None else indented(text)
    found: dict[View, str] = {}
    if pretty is not None:
        found["json"] = pretty
    found["text"] = payload.decode(errors="replace")
    found["hex"] = hex_dump(payload[:MOST_HEX])
    first: View = "json" if pretty is not None else "text" if text is not None else "hex"
    chosen = next((name for name in found if name == view), first)
    content = found[chosen]
    cut = len(payload) > MOST_HEX if chosen == "hex" else len(content) > MOST_TEXT
    return Shown(chosen, tuple(found), content[:MOST_TEXT], len(payload), cut)


def hex_dump(raw: bytes) -> str:
    """Return bytes in rows of sixteen: where, in hex, as letters."""
    rows = []
    for at in range(0, len(raw), _ROW):
        part = raw[at : at + _ROW]
        letters = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in part)
        rows.append(f"{at:08x}  {part.hex(' '):<47}  {letters}")
    return "\n".join(rows)


def indented(text: str) -> str | None:
    """Return a JSON object or array with a line for each member; None if it is none.

    Numbers and texts stay as they were written, digit for digit.
    """
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return None
    return _indent(text)


def _indent(text: str) -> str | None:
    out: list[str] = []
    depth, place = 0, 0
    while place < len(text):
        sign = text[place]
        if sign == '"':
            end = _end_of_string(text, place)
            out.append(text[place:end])
            place = end
            continue
        if sign in "{[":
            depth += 1
            out.append(sign + _line(depth))
        elif sign in "}]":
            depth -= 1
            out.append(_line(depth) + sign)
        elif sign == ",":
            out.append(sign + _line(depth))
        elif sign == ":":
            out.append(": ")
        elif not sign.isspace():
            out.append(sign)
        if depth > _DEEPEST:
            return None
        place += 1
    return "".join(out)


def _line(depth: int) -> str:
    return "\n" + "  " * depth


def _end_of_string(text: str, place: int) -> int:
    end = place + 1
    while text[end] != '"':
        end += 2 if text[end] == "\\" else 1
    return end + 1
