"""Looks up one value in a JSON payload and writes it so that equal values are equal texts.

A path is ``$.a.b[0]``; the ``$`` may be left out (``a.b``), and a name with odd letters stands in
brackets and quotes, ``$['odd name']`` (a quote or backslash in it after a backslash). It names one
place, so there are no wildcards, slices or filters; ``$`` alone is the whole payload.
"""

import json
import re
from functools import lru_cache
from typing import Any

from state.rules.numbers import number_text

_LONGEST = 256
_NAME = r"[^\s.\[\]'\"*?@()$,:\\]+"
_QUOTED = r"'(?:[^'\\]|\\['\"\\])*'|\"(?:[^\"\\]|\\['\"\\])*\""
_STEP = re.compile(rf"\.({_NAME})|\[(0|[1-9][0-9]{{0,8}})\]|\[({_QUOTED})\]")
_DEEPEST = 200
_STRING_OR_BRACKET = re.compile(r"\"(?:[^\"\\]|\\.)*\"|[\[{\]}]", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)")

Path = tuple[str | int, ...]


class NotJsonError(ValueError):
    """The payload is not JSON, so nothing can be looked up in it."""


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


def _refuse_constant(name: str) -> None:
    raise NotJsonError(f"the payload holds {name}, which is not JSON")


_DECODER = json.JSONDecoder(parse_float=_Number, parse_int=_Number, parse_constant=_refuse_constant)


@lru_cache(maxsize=4096)
def parse_path(text: str) -> Path:
    """Return the names and indexes of a path; ValueError with a sentence when it is none."""
    rest = text if text.startswith(("$", "[")) else f"$.{text}"
    rest = rest.removeprefix("$")
    steps: list[str | int] = []
    while rest:
        step = _STEP.match(rest)
        if step is None or len(text) > _LONGEST:
            raise ValueError("it is not a path; write for example $.a.b[0] or $['odd name']")
        steps.append(_meaning(step))
        rest = rest[step.end() :]
    return tuple(steps)


def _meaning(step: re.Match[str]) -> str | int:
    name, index, quoted = step.groups()
    if index is not None:
        return int(index)
    return str(name) if name is not None else _ESCAPED.sub(r"\1", quoted[1:-1])


def value_at(payload: bytes, path: str) -> str | None:
    """Return the value at ``path`` as text, or None when there is none.

    Numbers keep every digit, and those that are equal as numbers are equal texts; of a key that is
    there twice the last one counts; the order of keys and blanks do not matter. A null that is
    there is ``null``. NotJsonError when the payload is not one JSON text in UTF-8, or is nested
    more than 200 levels deep.
    """
    value = _decode(payload)
    for step in parse_path(path):
        if not _has(value, step):
            return None
        value = value[step]
    return _text(value)


def _decode(payload: bytes) -> Any:
    try:
        text = payload.decode("utf-8")
        if _is_deep(text):
            raise NotJsonError("the payload is nested too deeply")
        return _DECODER.decode(text)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise NotJsonError("the payload is not JSON in UTF-8") from error


def _is_deep(text: str) -> bool:
    """Tell it without the decoder, whose own limit depends on who calls it."""
    if text.count("[") + text.count("{") <= _DEEPEST:
        return False
    depth = deepest = 0
    for mark in _STRING_OR_BRACKET.findall(text):
        depth += (mark in "[{") - (mark in "]}")
        deepest = max(depth, deepest)
    return deepest > _DEEPEST


def _has(value: Any, step: str | int) -> bool:
    if isinstance(step, int):
        return isinstance(value, list) and step < len(value)
    return isinstance(value, dict) and step in value


def _text(value: Any) -> str:
    if isinstance(value, _Number):
        return number_text(value)
    if isinstance(value, dict):
        pairs = (f"{json.dumps(key)}:{_text(value[key])}" for key in sorted(value))
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_text, value)) + "]"
    return json.dumps(value)
