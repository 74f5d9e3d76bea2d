"""Reads the event in a request, and describes what one may look like."""

import hashlib
import json
from typing import Annotated, Any

from fastapi import Depends, Request

from pipeline.admin.offered import JSON, STRUCTURED, Offered, attributes_of, offered

_BYTES = "application/octet-stream"


def event_body(*, required: bool = True) -> dict[str, Any]:
    """Return the description of a request that has an event in it."""
    return {
        "requestBody": {
            "required": required,
            "content": {
                JSON: {"schema": {"$ref": "#/components/schemas/Event"}},
                STRUCTURED: {"schema": {"$ref": "#/components/schemas/CloudEvent"}},
                _BYTES: {
                    "schema": {
                        "type": "string",
                        "format": "binary",
                        "description": "The payload as it is, in any content type; the attributes "
                        "of the event are ce- headers.",
                    }
                },
            },
        }
    }


async def event_of(request: Request) -> Offered:
    """Return the event that a request offers."""
    body = await request.body()
    attributes = attributes_of(request.headers)
    return offered(request.headers.get("content-type"), attributes, body)


async def fingerprint_of(request: Request) -> str:
    """Return what tells a request from another one."""
    said = [
        request.method,
        request.url.path,
        request.url.query,
        request.headers.get("content-type"),
        sorted(attributes_of(request.headers).items()),
    ]
    digest = hashlib.sha256(json.dumps(said).encode())
    digest.update(await request.body())
    return digest.hexdigest()


Event = Annotated[Offered, Depends(event_of)]
