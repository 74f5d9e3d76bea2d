"""Makes a Kafka record of an event that came over HTTP, digit for digit as it was written.

There are three ways to send one: a JSON object whose envelope may be left out, a whole CloudEvent
in JSON, and one in binary mode, whose attributes are headers and whose body is the payload.
"""

import json
import re
import uuid
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from pipeline.admin.problems import Problem
from pipeline.commands import ACTOR
from pipeline.event import SCHEDULE_TYPE
from pipeline.planning.members import NotAnObjectError, members_of, scalar_text
from pipeline.reasons import Reason

SOURCE = "/duestream/http"
STRUCTURED = "application/cloudevents+json"
JSON = "application/json"
KEY_ATTRIBUTE = "partitionkey"

_HEADERS = "ce-"
_ATTRIBUTE = re.compile(r"[a-z0-9]{1,100}")
_STRUCTURED = re.compile(r"application/cloudevents(\+json)?", re.ASCII)
_CONTENT_TYPE = "content-type"


@dataclass(frozen=True, slots=True)
class Offered:
    """An event as a record, and the same in structured mode, by which it is judged."""

    value: bytes
    headers: tuple[tuple[str, bytes], ...]
    judged: bytes
    key: str | None = None  # what its attribute partitionkey says


def offered(content_type: str | None, attributes: Mapping[str, str], body: bytes) -> Offered:
    """Read an event; ``attributes`` are those that came as ``ce-`` headers, by their names."""
    kind = (content_type or JSON).partition(";")[0].strip().lower()
    if _STRUCTURED.fullmatch(kind):
        return _structured(body, {})
    if attributes:
        return _binary(content_type, attributes, body)
    if kind == JSON:
        return _structured(body, _envelope())
    raise Problem(
        415,
        "unsupported_content",
        f"content-type: {kind[:100]} is none an event comes in; send {JSON}, {STRUCTURED}, or any "
        "with the attributes of the event as ce- headers",
    )


def attributes_of(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the attributes that HTTP headers name, each still as it was sent."""
    return {
        name.lower().removeprefix(_HEADERS): value
        for name, value in headers.items()
        if name.lower().startswith(_HEADERS)
    }


def acted(event: Offered, actor: str) -> Offered:
    """Return the event with who sent it; whatever it said of that itself does not count."""
    said = json.dumps(actor)
    if event.value is event.judged:
        value = _written(_members(event.value) | {ACTOR: said})
        return Offered(value, event.headers, value, event.key)
    others = tuple(header for header in event.headers if header[0] != f"ce_{ACTOR}")
    return Offered(event.value, (*others, (f"ce_{ACTOR}", actor.encode())), event.judged, event.key)


def _structured(body: bytes, envelope: dict[str, str]) -> Offered:
    members = _members(body)
    given = {name: raw for name, raw in members.items() if raw != "null" or name not in envelope}
    whole = _written(envelope | given)
    headers = ((_CONTENT_TYPE, STRUCTURED.encode()),)
    return Offered(whole, headers, whole, _text(members.get(KEY_ATTRIBUTE)))


def _binary(content_type: str | None, attributes: Mapping[str, str], body: bytes) -> Offered:
    given = {name: _decoded(name, value) for name, value in attributes.items()}
    said = {name: scalar_text(raw) or "" for name, raw in _envelope().items()} | given
    headers = [(f"ce_{name}", value.encode()) for name, value in said.items()]
    if content_type is not None:
        headers.append((_CONTENT_TYPE, content_type.encode()))
    members = {name: json.dumps(value) for name, value in said.items()}
    members["data_base64"] = json.dumps(b64encode(body).decode())
    return Offered(body, tuple(headers), _written(members), given.get(KEY_ATTRIBUTE))


def _decoded(name: str, value: str) -> str:
    """Return the text of an attribute: percent-encoded UTF-8, as the HTTP binding has it."""
    if not _ATTRIBUTE.fullmatch(name) or name == "data":
        raise Problem(
            422,
            Reason.INVALID_ATTRIBUTE,
            f"ce-{name[:100]}: names no attribute; they consist of letters and digits",
        )
    try:
        return unquote_to_bytes(value.encode("latin-1")).decode()
    except ValueError:
        raise Problem(
            422, Reason.INVALID_ATTRIBUTE, f"ce-{name}: is not UTF-8; percent-encode it"
        ) from None


def _envelope() -> dict[str, str]:
    made = {
        "specversion": "1.0",
        "id": str(uuid.uuid4()),
        "source": SOURCE,
        "type": SCHEDULE_TYPE,
    }
    return {name: json.dumps(value) for name, value in made.items()}


def _members(body: bytes) -> dict[str, str]:
    try:
        return members_of(body.decode())
    except (UnicodeDecodeError, NotAnObjectError):
        raise Problem(
            422,
            Reason.INVALID_JSON,
            "the body is not one JSON object; send a single object in UTF-8, nothing after it, no "
            "unpaired surrogates, and at most 24 levels in each member",
        ) from None


def _written(members: Mapping[str, str]) -> bytes:
    pairs = (f"{json.dumps(name)}:{raw}" for name, raw in members.items())
    return f"{{{','.join(pairs)}}}".encode()


def _text(raw: str | None) -> str | None:
    return None if raw is None or raw[:1] in ("{", "[") else scalar_text(raw)
