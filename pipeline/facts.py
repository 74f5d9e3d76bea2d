"""What the sentence about a refused record may name: values in quotes, cut to a readable length."""

import json
from collections.abc import Mapping

from pipeline.raw import FACTS, RAW_HEADERS, RAW_VALUE
from state.row import DUE, KEY, OUTPUT_TOPIC, PAYLOAD

_SHOWN = 200  # characters of a value that a sentence repeats
_NAMES = "names"  # what the record's form calls its fields: words of ours, not of the producer
_REPLACED = "\N{REPLACEMENT CHARACTER}"


class Facts(dict[str, object]):
    """Facts by name; one that is not known is nothing in a sentence."""

    def __missing__(self, name: str) -> str:
        return ""


def facts_of(row: Mapping[str, object]) -> Facts:
    """Return the facts of a refused line: those of its dialect, and those every line has."""
    given = row[FACTS]
    facts = _quoted(json.loads(given)) if isinstance(given, str) else Facts()
    said = {"value": _text(row[RAW_VALUE]), "topic": row[OUTPUT_TOPIC], "due": row[DUE]}
    facts.update(_quoted(said))
    facts["key_bytes"], facts["payload_bytes"] = _size(row[KEY]), _size(row[PAYLOAD])
    facts["bad_headers"] = _not_text(row[RAW_HEADERS])
    return facts


def _quoted(values: Mapping[str, object]) -> Facts:
    return Facts(
        {
            name: value if name == _NAMES else _shown(value)
            for name, value in values.items()
            if value is not None
        }
    )


def _shown(value: object) -> object:
    return _quoted(value) if isinstance(value, dict) else f" '{str(value)[:_SHOWN]}'"


def _text(value: object) -> str | None:
    return value[: 4 * _SHOWN].decode(errors="replace") if isinstance(value, bytes) else None


def _size(value: object) -> int:
    return len(value) if isinstance(value, bytes) else 0


def _not_text(headers: object) -> str:
    """Return the names of the headers whose values are not UTF-8."""
    values = headers if isinstance(headers, list) else []
    return ", ".join(
        header["key"] for header in values if _REPLACED in (_text(header["value"]) or "")
    )
