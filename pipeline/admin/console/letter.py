"""Shows one dead letter, and sends it again: as it was, or mended."""

import logging
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from pipeline.admin.acting import Acting
from pipeline.admin.console.act import require_reason
from pipeline.admin.console.did import Did
from pipeline.admin.console.letters import sentence_of, shown_letter
from pipeline.admin.console.lines import Row
from pipeline.admin.console.payload import indented, shown
from pipeline.admin.console.render import page
from pipeline.admin.console.visit import Visit, Visiting
from pipeline.admin.desk import AtDesk, Desk, State
from pipeline.admin.editable import editable
from pipeline.admin.letters import letter_of, require_mendable, resend
from pipeline.admin.offered import offered
from pipeline.admin.pages.visiting import Actor
from pipeline.admin.problems import Problem
from pipeline.admin.sent import Sent
from pipeline.admin.shown import discreet
from pipeline.admin.who import Principal
from pipeline.keys import key_bytes, key_text
from pipeline.written import ScheduleError
from state.errors import ConfigError
from state.row import KEY, PAYLOAD, REASON, SOURCE_TOPIC

log = logging.getLogger(__name__)
router = APIRouter(include_in_schema=False)


@router.get("/dead-letter")
def letter(visit: Visiting, state: State, id: str, view: str = "") -> HTMLResponse:
    """Show it, with the event to be mended."""
    row = letter_of(state, id)
    hide = visit.settings.admin.hide_payload
    event = "" if hide else editable(row)
    return _page(visit, row, indented(event) or event, key_text(row[KEY]), view=view)


@router.post("/dead-letter")
def send_again(
    visit: Visiting,
    desk: AtDesk,
    state: State,
    who: Actor,
    id: Annotated[str, Form()],
    do: Annotated[str, Form()] = "as-it-was",
    why: Annotated[str, Form()] = "",
    key: Annotated[str, Form()] = "",
    event: Annotated[str, Form()] = "",
    force: Annotated[bool, Form()] = False,
) -> Response:
    """Send it, and go to where one sees what came of it."""
    row = letter_of(state, id)
    typed = event.replace("\r\n", "\n")
    try:
        require_reason(why.strip())
        if do == "mended":
            sent = _mended(desk, who, row, key, typed)
        else:
            sent = resend(desk, who, state, row, force=force)
    except (ConfigError, ScheduleError) as error:
        return _page(visit, row, typed, key, why, str(error), 422)
    except Problem as problem:
        return _page(visit, row, typed, key, why, problem.detail, problem.status)
    log.info("%s sent a dead letter again (%s) because: %s", who.name, do, why)
    if not sent.key:  # no page could tell what became of it
        return RedirectResponse(f"{visit.base}/dead-letters?did=resubmit-keyless", 303)
    there = urlencode({"key": key_text(sent.key), "source": sent.source})
    return RedirectResponse(f"{visit.base}/message?{there}&{Did.by(sent).query}", 303)


def _mended(desk: Desk, who: Principal, row: Row, key: str, event: str) -> Sent:
    require_mendable(desk)
    own = key_bytes(key, "key") if key else b""
    made = offered(None, {}, event.encode(errors="surrogatepass"))
    return Acting(desk, who).schedule(own, made, source=row[SOURCE_TOPIC])


def _page(
    visit: Visit,
    row: Row,
    event: str,
    key: str,
    why: str = "",
    problem: str = "",
    status: int = 200,
    view: str = "",
) -> HTMLResponse:
    hide, content = visit.settings.admin.hide_payload, row[PAYLOAD]
    return page(
        visit,
        "letter.html",
        status,
        row=row,
        letter=shown_letter(discreet(row, hide)),
        sentence=sentence_of(row[REASON]),
        payload=None if hide or content is None else shown(content, view),
        hide=hide,
        event=event,
        key=key,
        why=why,
        problem=problem,
    )
