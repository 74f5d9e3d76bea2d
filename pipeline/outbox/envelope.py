"""Wraps a message as a CloudEvent: attributes in headers (binary) or all in one JSON (structured).

Data goes into the JSON as it came: JSON as the same text, to the last digit, other text as a
string, and what is neither as base64.
"""

import base64
import json
import re

from pipeline.clock import exact_text
from pipeline.outbox.headers import CONTENT_TYPE, Headers, content_type_of, replaced, without
from pipeline.outbox.item import Item

MEDIA_TYPE = b"application/cloudevents+json"
EVENT_TYPE = "io.duestream.message.v1"
ROOM = 2_048  # bytes that suffice for the attributes, but for the subject and the content type
MOST_GROWTH = 6  # a control character in JSON has six bytes

_CHARSET = re.compile(r"""charset\s*=\s*["']?([^\s"';]+)""", re.IGNORECASE)
_UTF_8 = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
# No CloudEvents string may have these.
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]")


def attributes_of(item: Item, key: bytes | None) -> dict[str, str]:
    """Return the attributes of the event that a message is."""
    subject = _subject(key)
    return {
        "specversion": "1.0",
        "id": item.fire_id,
        "source": f"duestream/{item.version.topic}",
        "type": EVENT_TYPE,
        "time": exact_text(item.scheduled),
    } | ({} if subject is None else {"subject": subject})


def binary_headers(headers: Headers | None, attributes: dict[str, str]) -> Headers:
    """Return the headers of the event in binary mode; its value is the data."""
    return replaced(headers, [(f"ce_{name}", text.encode()) for name, text in attributes.items()])


def structured_headers(headers: Headers | None) -> Headers:
    """Return the headers of the event in structured mode."""
    others = without(headers, {name for name, _ in headers or () if name.lower() == CONTENT_TYPE})
    return [*others, (CONTENT_TYPE, MEDIA_TYPE)]


def structured_value(value: bytes, headers: Headers | None, attributes: dict[str, str]) -> bytes:
    """Return the event as JSON; ``headers`` are those of the message before."""
    content_type = content_type_of(headers)
    said = attributes | ({} if content_type is None else {"datacontenttype": content_type})
    name, data = _data(value, content_type or "")
    return b'%s,"%s":%s}' % (_json(said)[:-1], name, data)


def opened(value: bytes) -> bytes | None:
    """Return the message that ``structured_value`` made the event of; None if it made none such."""
    try:
        event = json.loads(value, parse_int=_any, parse_float=_any)
        if event["type"] != EVENT_TYPE:
            return None
        if "data_base64" in event:
            return base64.b64decode(event["data_base64"], validate=True)
        if _is_json_type(event["datacontenttype"]):
            return value.partition(b',"data":')[2][:-1]  # no attribute can have it: it is quoted
        return str(event["data"]).encode()
    except (ValueError, TypeError, LookupError, RecursionError):
        return None


def _data(value: bytes, content_type: str) -> tuple[bytes, bytes]:
    """Return the name of the member that has the data, and the data as JSON."""
    charset = _CHARSET.search(content_type)
    if charset is None or charset[1].lower() in _UTF_8:
        if _is_json_type(content_type):
            if _is_json(value):
                return b"data", value
        elif _is_text_type(content_type) and (text := _text(value)) is not None:
            return b"data", _json(text)
    return b"data_base64", b'"%s"' % base64.b64encode(value)


def _is_json_type(content_type: str) -> bool:
    return _media(content_type).endswith(("/json", "+json"))


def _is_text_type(content_type: str) -> bool:
    media = _media(content_type)
    return media.startswith("text/") or media.endswith(("/xml", "+xml"))


def _media(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _subject(key: bytes | None) -> str | None:
    text = _text(key) if key else None
    return None if text is None or _FORBIDDEN.search(text) else text


def _text(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _is_json(value: bytes) -> bool:
    """Tell whether it is one JSON value in UTF-8; numbers are not read, however long they are."""
    try:
        json.loads(value.decode(), parse_int=_any, parse_float=_any, parse_constant=_none)
    except (ValueError, RecursionError):
        return False
    return True


def _any(number: str) -> str:
    return number


def _none(word: str) -> None:
    raise ValueError(f"{word} is no JSON")
