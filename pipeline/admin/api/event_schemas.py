"""Describes events for the API: with their envelope left out, and as whole CloudEvents."""

from typing import Any

from pipeline.planning.event import REQUIRED
from pipeline.schema import MEANINGS

Schema = dict[str, Any]


def event_schemas() -> dict[str, Schema]:
    """Return the schemas by their names."""
    return {
        "Event": _schema(
            "Event",
            "An event, as on Kafka; specversion, id, source and type may be left out.",
            ["outputtopic"],
        ),
        "CloudEvent": _schema("CloudEvent", "A whole CloudEvent.", [*REQUIRED, "outputtopic"]),
    }


def _schema(title: str, description: str, required: list[str]) -> Schema:
    envelope = {name: {"type": "string"} for name in REQUIRED}
    wishes = {
        name: {"type": "string", "description": meaning} for name, meaning in MEANINGS.items()
    }
    content = {
        "datacontenttype": {"type": "string"},
        "data": {"description": "the payload: a string as its text, else its JSON text"},
        "data_base64": {"type": "string", "description": "instead: bytes"},
    }
    return {
        "title": title,
        "description": description,
        "type": "object",
        "properties": {**envelope, **wishes, **content},
        "required": required,
        "additionalProperties": True,
    }
