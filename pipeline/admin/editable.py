"""Writes a dead letter as the event that somebody may mend and send again."""

import json
from base64 import b64encode
from typing import Any

from pipeline.dead import OWN_HEADERS
from pipeline.keys import key_text
from state.row import (
    HEADERS,
    KEY,
    KIND,
    OUTPUT_KEY,
    OUTPUT_PARTITION,
    OUTPUT_TOPIC,
    PAYLOAD,
    Kind,
)

Row = dict[str, Any]

_ATTRIBUTE = "ce_"
_CONTENT_TYPE = "content-type"
_CARRIED = ("traceparent", "tracestate", "correlationid")


def editable(row: Row) -> str:
    """Return the event as JSON text: a refused record as it came, a message as due now."""
    headers = {each["key"]: each["value"] or b"" for each in row[HEADERS] or []}
    if row[KIND] == Kind.MESSAGE:
        return json.dumps(_of_message(row, headers), ensure_ascii=False, indent=2)
    own = {name: raw for name, raw in headers.items() if not name.startswith(OWN_HEADERS)}
    if any(name.startswith(_ATTRIBUTE) for name in own):
        return json.dumps(_of_binary(row, own), ensure_ascii=False, indent=2)
    return (row[PAYLOAD] or b"").decode(errors="replace")


def _of_message(row: Row, headers: dict[str, bytes]) -> Row:
    event: Row = {"outputtopic": row[OUTPUT_TOPIC], "delayby": "0s"}
    if row[OUTPUT_KEY] not in (None, row[KEY]):
        event["outputkey"] = key_text(row[OUTPUT_KEY])
    if row[OUTPUT_PARTITION] is not None:
        event["outputpartition"] = row[OUTPUT_PARTITION]
    if _CONTENT_TYPE in headers:
        event["datacontenttype"] = _text(headers[_CONTENT_TYPE])
    carried = {name: _text(headers[name]) for name in _CARRIED if name in headers}
    return event | carried | _data(row[PAYLOAD])


def _of_binary(row: Row, headers: dict[str, bytes]) -> Row:
    said = {
        name.removeprefix(_ATTRIBUTE): _text(raw)
        for name, raw in headers.items()
        if name.startswith(_ATTRIBUTE)
    }
    if _CONTENT_TYPE in headers:
        said["datacontenttype"] = _text(headers[_CONTENT_TYPE])
    return said | _data(row[PAYLOAD])


def _data(payload: bytes | None) -> dict[str, str]:
    if payload is None:
        return {}
    try:
        return {"data": payload.decode()}
    except UnicodeDecodeError:
        return {"data_base64": b64encode(payload).decode()}


def _text(raw: bytes) -> str:
    return raw.decode(errors="replace")
