"""Shows all that is known of one key: the message, its payload, versions, and what happened."""

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from pipeline.admin.console.did import Doing
from pipeline.admin.console.lines import Row, line_of
from pipeline.admin.console.payload import shown
from pipeline.admin.console.render import is_part, page
from pipeline.admin.console.repeating import end_text, miss_text, rule_text
from pipeline.admin.console.snippets import snippets
from pipeline.admin.console.timeline import timeline
from pipeline.admin.console.visit import Visit, Visiting
from pipeline.admin.desk import AtDesk, State
from pipeline.admin.problems import Problem
from pipeline.admin.single import Single, message_of, version_of_row
from pipeline.clock import now_micros
from pipeline.keys import key_bytes
from state import row as r
from state.row import LIVE, Kind
from state.rules.policy import Policy

router = APIRouter(include_in_schema=False)


@router.get("/message")
def message(
    request: Request,
    visit: Visiting,
    desk: AtDesk,
    state: State,
    did: Doing,
    key: str,
    source: str = "",
    version: str = "",
    occurrence: int | None = None,
    view: str = "",
) -> HTMLResponse:
    """Show a key, or one version of it; a script asks for the payload in another view."""
    known = message_of(
        state, desk.settings, key_bytes(key, "key"), source or None, desk.sending.default_source
    )
    row = _chosen(known, version, occurrence)
    if row is None:
        return page(visit, "unknown.html", 200 if did.told else 404, key=key, did=did)
    template = "payload.html" if is_part(request) and view else "message.html"
    return page(
        visit,
        template,
        did=did,
        pinned=bool(version),
        pauses=state.stats(now_micros()).pauses,
        **_seen(visit, known, row, view, key, source),
    )


@router.get("/message/live")
def live(
    visit: Visiting,
    desk: AtDesk,
    state: State,
    key: str,
    source: str = "",
    version: str = "",
    occurrence: int | None = None,
    pinned: bool = False,
) -> HTMLResponse:
    """Answer with how it stands by now; the payload that is shown stays as it is.

    A command makes a new version with the same content; the page follows it, unless it was opened
    for one version.
    """
    known = message_of(
        state, desk.settings, key_bytes(key, "key"), source or None, desk.sending.default_source
    )
    row = _chosen(known, version, occurrence)
    if row is None:
        return HTMLResponse("", 204)
    current = known.current
    if not pinned and current is not None and _same_content(row, current):
        row = current
    seen = _seen(visit, known, row, "", key, source)
    return page(visit, "message_live.html", pauses=state.stats(now_micros()).pauses, **seen)


@router.get("/message/payload")
def payload(
    visit: Visiting,
    desk: AtDesk,
    state: State,
    key: str,
    source: str = "",
    version: str = "",
    occurrence: int | None = None,
) -> Response:
    """Answer with the bytes of the payload, to be saved."""
    if visit.settings.admin.hide_payload:
        raise Problem(403, "payload_hidden", "admin.hide_payload is on: payloads are not shown")
    known = message_of(
        state, desk.settings, key_bytes(key, "key"), source or None, desk.sending.default_source
    )
    row = _chosen(known, version, occurrence)
    if row is None:
        raise Problem(404, "not_found", "this message is not known, or no longer")
    saved = {"Content-Disposition": 'attachment; filename="payload.bin"'}
    return Response(row[r.PAYLOAD] or b"", media_type="application/octet-stream", headers=saved)


def _chosen(known: Single, version: str, occurrence: int | None) -> Row | None:
    """Return the version that was asked for, or the current one; else what was not admitted."""
    for row in known.versions:
        if version_of_row(row) == version and occurrence in (None, row[r.OCCURRENCE]):
            return row
    return known.current or next(iter(known.versions), None)


def _same_content(row: Row, other: Row) -> bool:
    return all(row[name] == other[name] for name in (r.PAYLOAD, r.HEADERS, r.KIND))


def _newer(known: Single, row: Row) -> bool:
    """Tell whether another version is the current one by now."""
    current = known.current
    return current is not None and line_of(current).id != line_of(row).id


def _seen(
    visit: Visit, known: Single, row: Row, view: str, key: str, source: str
) -> dict[str, Any]:
    hide, content = visit.settings.admin.hide_payload, row[r.PAYLOAD]
    several = len(visit.settings.sources) > 1
    return {
        "row": row,
        "line": line_of(row),
        "key": key,
        "source": source,
        "is_message": row[r.KIND] == Kind.MESSAGE,
        "is_live": row[r.KIND] == Kind.MESSAGE and row[r.STATUS] in LIVE,
        "policy": Policy.from_json(row[r.POLICY]),
        "rule": rule_text(row[r.POLICY]),
        "ends": end_text(row[r.POLICY]),
        "misses": miss_text(row[r.POLICY]),
        "newer": _newer(known, row),
        "payload": None if hide or content is None else shown(content, view),
        "hide": hide,
        "versions": [line_of(each) for each in known.versions],
        "happenings": timeline(known),
        "snippets": snippets(visit, row, several),
    }
