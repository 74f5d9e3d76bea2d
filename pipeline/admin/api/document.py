"""Describes the API in OpenAPI: ``python -m pipeline.admin.api.document > conf/openapi.json``."""

import json
import sys
from functools import cache
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from pipeline.admin.api import routers
from pipeline.admin.api.answers import Problem
from pipeline.admin.api.event_schemas import event_schemas

TITLE = "duestream"
ABOUT = """\
Schedule messages for Kafka, look at what waits and what became of it, and steer it.

Whatever is written here becomes an event on the input topic; the job takes it within a tick. With
`?wait=5s` the answer tells what came of it.
"""


@cache
def document() -> dict[str, Any]:
    """Return the description of everything below /v1."""
    app = FastAPI(openapi_url=None)
    for router in routers():
        app.include_router(router)
    made = get_openapi(
        title=TITLE, version=version("duestream"), description=ABOUT, routes=app.routes
    )
    schemas = made["components"]["schemas"]
    schemas |= event_schemas() | {"Problem": Problem.model_json_schema()}
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    return made


def document_text() -> str:
    """Return the file."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(document_text())
