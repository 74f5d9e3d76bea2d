"""Writes what a page does as commands to copy: for a terminal, and for curl."""

import json
import shlex
from base64 import b64encode
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from pipeline.admin.console.again import Again, asked_again, decides_when
from pipeline.admin.console.lines import Row
from pipeline.admin.console.texts import t
from pipeline.admin.console.visit import Visit
from pipeline.clock import exact_text
from pipeline.keys import key_text, payload_text
from pipeline.option_names import OPTIONS
from pipeline.paused import instant_of
from state import row as r

_LONGEST = 2_000  # bytes of payload that a command shows

# The options of ``duestream schedule``; other attributes go by --attribute.
_OPTIONS = OPTIONS | {
    "outputtopic": "--topic",
    "outputkey": "--output-key",
    "datacontenttype": "--content-type",
}


@dataclass(frozen=True, slots=True)
class Snippets:
    """Commands about a message; those that cannot be given are empty, and ``why`` says why."""

    show: str
    get: str
    schedule: str = ""
    put: str = ""
    why: str = ""
    left: str = ""  # what the commands do not say of the message


def snippets(visit: Visit, row: Row, several: bool) -> Snippets:
    """Return commands about a message; ``several``: they have to name its input topic."""
    source = row[r.SOURCE_TOPIC] if several else None
    hide, payload = visit.settings.admin.hide_payload, row[r.PAYLOAD]
    show, get = _show(row, source), _curl(visit, "GET", row, source)
    if hide:
        return Snippets(show, get, why=t("No command: admin.hide_payload is on."))
    if len(payload or b"") > _LONGEST:
        return Snippets(show, get, why=t("No command: the payload is too long to be typed."))
    again = asked_again(row, hide)
    said = again.attributes | _time(row)
    return Snippets(
        show,
        get,
        schedule="" if payload is None else _schedule(row, said, source),
        put=_curl(visit, "PUT", row, source, said | _data(payload)),
        why=t("No command for a terminal: there is no payload.") if payload is None else "",
        left=_left(again),
    )


def _left(again: Again) -> str:
    return ", ".join(again.left)


def _time(row: Row) -> dict[str, str]:
    return {} if decides_when(row) else {"deliverat": exact_text(instant_of(row))}


def _show(row: Row, source: str | None) -> str:
    return shlex.join(["duestream", "show", *_input(source), "--", key_text(row[r.KEY])])


def _schedule(row: Row, said: dict[str, str], source: str | None) -> str:
    options = [
        f"{_OPTIONS[name]}={text}" if name in _OPTIONS else f"--attribute={name}={text}"
        for name, text in said.items()
    ]
    named = ["duestream", "schedule", f"--key={key_text(row[r.KEY])}", *options, *_input(source)]
    text = _plain(row[r.PAYLOAD])
    if text is not None and text != "-":
        return shlex.join([*named, "--", text])
    coded = shlex.quote(b64encode(row[r.PAYLOAD]).decode())
    return f"printf %s {coded} | base64 -d | {shlex.join([*named, '--', '-'])}"


def _input(source: str | None) -> list[str]:
    return [] if source is None else [f"--input={source}"]


def _curl(
    visit: Visit, method: str, row: Row, source: str | None, event: dict[str, Any] | None = None
) -> str:
    query = "" if source is None else f"?{urlencode({'source': source})}"
    key = quote(_in_a_path(row[r.KEY]), safe="")
    address = f"{visit.origin}{visit.base}/v1/messages/{key}{query}"
    parts = ["curl"]
    if method != "GET":
        parts += ["-X", method]
    if visit.asks_who:
        parts += ["-H", '"Authorization: Bearer $TOKEN"']
    if event is not None:
        parts += ["-H", "'content-type: application/json'", "-d", shlex.quote(_json(event))]
    return " ".join([*parts, shlex.quote(address)])


def _in_a_path(key: bytes) -> str:
    """Return a key as a part of an address that nobody on the way shortens."""
    text = key_text(key)
    return f"0x{key.hex()}" if any(part in ("", ".", "..") for part in text.split("/")) else text


def _data(payload: bytes | None) -> dict[str, str]:
    if payload is None:
        return {}
    text = _plain(payload)
    return {"data_base64": b64encode(payload).decode()} if text is None else {"data": text}


def _plain(payload: bytes) -> str | None:
    """Return a payload as a text that a page shows as it is, and a clipboard leaves so."""
    text = payload_text(payload)
    return None if text is None or "\r" in text else text


def _json(event: dict[str, Any]) -> str:
    return json.dumps(event, ensure_ascii=False)
