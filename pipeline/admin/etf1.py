"""Answers what the GUI of etf1's scheduler asks: is it alive, what is it, what is scheduled."""

import json
import logging
import socket
from base64 import b64encode
from collections.abc import Iterator
from itertools import chain
from typing import Any

import pyarrow as pa
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import StreamingResponse

from pipeline.admin.desk import AtDesk, Desk, State, desk_of
from pipeline.admin.problems import tell_problems
from pipeline.keys import key_text
from state import row
from state.errors import DuestreamError
from state.inspect import Filter, Inspector

log = logging.getLogger(__name__)

_SECOND = 1_000_000
_COLUMNS = [
    row.KEY,
    row.SCHEDULED,
    row.SOURCE_TIMESTAMP,
    row.SOURCE_TOPIC,
    row.OUTPUT_TOPIC,
    row.OUTPUT_KEY,
    row.PAYLOAD,
]

router = APIRouter()


def etf1_application(desk: Desk, port: int) -> FastAPI:
    """Return the application; ``port`` is the one it tells of itself."""
    app = FastAPI(title="duestream", openapi_url=None, docs_url=None, redoc_url=None)
    app.state.desk = desk
    app.state.port = port
    tell_problems(app)
    app.include_router(router)
    return app


@router.get("/liveness")
def liveness(desk: AtDesk) -> Response:
    """Say whether the state can be read."""
    try:
        desk.looking.inspector().moment()
    except DuestreamError as error:
        log.warning("not alive: %s", error)
        return Response(status_code=500)
    return Response(status_code=200)


@router.get("/info")
def info(request: Request, desk: AtDesk) -> dict[str, Any]:
    """Say where this runs, and on which topics."""
    _let_in(request)
    settings = desk.settings
    histories = sorted(settings.history_topics)
    return {
        "hostname": socket.gethostname(),
        "address": _addresses(),
        "server_address": f":{request.app.state.port}",
        "kafka": {
            "bootstrap_servers": settings.kafka.bootstrap_servers,
            "topics": [source.topic for source in settings.sources],
            "history_topic": histories[0] if histories else "",
        },
    }


@router.get("/schedules")
def schedules(request: Request, state: State) -> Response:
    """List everything that is not out yet, in no order, a part at a time."""
    _let_in(request)
    hidden = desk_of(request).settings.admin.hide_payload
    parts = _parts(state, hidden)
    opening = next(parts)  # what fails, fails before the answer begins
    return StreamingResponse(chain([opening], parts), media_type="application/json")


def _let_in(request: Request) -> None:
    desk = desk_of(request)
    if not desk.settings.admin.etf1_open:
        desk.doors.let_in(request)


def _parts(state: Inspector, hidden: bool) -> Iterator[str]:
    """Yield the pieces of one JSON array; what is held at a time is one part of the scan."""
    between = "["
    for table in state.scan(Filter(statuses=row.LIVE), _COLUMNS):
        for schedule in _schedules(table, hidden):
            yield between + json.dumps(schedule, ensure_ascii=False)
            between = ",\n"
    yield "[]" if between == "[" else "]"


def _schedules(table: pa.Table, hidden: bool) -> Iterator[dict[str, Any]]:
    for line in table.to_pylist():
        payload = b"" if hidden else line[row.PAYLOAD] or b""
        yield {
            "id": _text(line[row.KEY]),
            "epoch": line[row.SCHEDULED] // _SECOND,
            "timestamp": line[row.SOURCE_TIMESTAMP] // _SECOND,
            "topic": line[row.SOURCE_TOPIC],
            "target-topic": line[row.OUTPUT_TOPIC],
            "target-key": _text(line[row.OUTPUT_KEY]),
            "value": b64encode(payload).decode(),
        }


def _text(key: bytes | None) -> str:
    return "" if key is None else key_text(key)


def _addresses() -> list[str]:
    """Return the addresses by which this machine knows itself."""
    try:
        found = socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return sorted({str(each[4][0]) for each in found})
