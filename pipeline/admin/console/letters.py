"""Lists what ended as dead, counted by reason, and sends many of it again after a count."""

import logging
from typing import Annotated, Any

from fastapi import APIRouter, Form, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from pipeline.admin.console.act import require_reason
from pipeline.admin.console.did import Doing
from pipeline.admin.console.lines import Row, line_of
from pipeline.admin.console.render import page
from pipeline.admin.console.texts import t
from pipeline.admin.console.visit import Visit, Visiting
from pipeline.admin.desk import AtDesk, State
from pipeline.admin.letters import Resubmitting, again, by_reason, letter_id, letters, resubmit
from pipeline.admin.pages.visiting import Actor
from pipeline.admin.problems import Problem
from pipeline.dead import DeadFilter, topic_of
from pipeline.instants import parse_instant
from pipeline.reasons import Reason
from state.errors import ConfigError
from state.row import KIND, Kind

log = logging.getLogger(__name__)
router = APIRouter(include_in_schema=False)


@router.get("/dead-letters")
def dead_letters(
    visit: Visiting,
    state: State,
    did: Doing,
    reason: str = "",
    topic: str = "",
    cursor: str = "",
) -> HTMLResponse:
    """Show the reasons, and a page of letters."""
    choice = DeadFilter(reason=reason or None, topic=topic or None)
    found = letters(state, choice, cursor or None)
    return page(
        visit,
        "letters.html",
        did=did,
        reasons=[_explained(line) for line in by_reason(state)],
        lines=[shown_letter(row) for row in found.rows],
        next=found.next,
        reason=reason,
        topic=topic,
        cursor=cursor,
    )


@router.post("/dead-letters/check")
def check(
    visit: Visiting,
    state: State,
    _who: Actor,
    reason: Annotated[str, Form()] = "",
    topic: Annotated[str, Form()] = "",
) -> Response:
    """Count what would be sent again, and ask; nothing is done yet."""
    found = again(state, DeadFilter(reason=reason or None, topic=topic or None))
    return _ask(visit, found, reason, topic)


@router.post("/dead-letters/resubmit")
def resubmit_many(
    visit: Visiting,
    desk: AtDesk,
    state: State,
    who: Actor,
    expect: Annotated[int, Form()],
    reason: Annotated[str, Form()] = "",
    topic: Annotated[str, Form()] = "",
    why: Annotated[str, Form()] = "",
) -> Response:
    """Send them again, if they are as many as was told."""
    found = again(state, DeadFilter(reason=reason or None, topic=topic or None))
    if len(found.send) != expect:
        told = t("They were %(n)s when you looked; look again and decide.", n=f"{expect:,}")
        return _ask(visit, found, reason, topic, told, 409)
    try:
        require_reason(why.strip())
        resubmit(desk, who, found.send)
    except ConfigError as error:
        return _ask(visit, found, reason, topic, str(error), 422)
    except Problem as problem:
        return _ask(visit, found, reason, topic, problem.detail, problem.status)
    log.info("%s sent %d dead letters again because: %s", who.name, expect, why)
    return RedirectResponse(f"{visit.base}/dead-letters?did=resubmit&many={expect}", 303)


def shown_letter(row: Row) -> dict[str, Any]:
    """Return what a list shows of a dead row."""
    return {
        "id": letter_id(row),
        "line": line_of(row),
        "topic": topic_of(row),
        "is_message": row[KIND] == Kind.MESSAGE,
    }


def sentence_of(reason: str | None) -> str:
    """Return what a reason means; nothing for one that is not known."""
    known = {each.value: each.sentence for each in Reason}
    return known.get(reason or "", "")


def _explained(line: Row) -> dict[str, Any]:
    last = parse_instant(line["last"], "last", 0)
    return line | {"sentence": sentence_of(line["reason"]), "last": last}


def _ask(
    visit: Visit,
    found: Resubmitting,
    reason: str,
    topic: str,
    problem: str = "",
    status: int = 200,
) -> Response:
    return page(
        visit,
        "letters_ask.html",
        status,
        found=found,
        lines=[line_of(row) for row in found.send[:20]],
        reason=reason,
        topic=topic,
        problem=problem,
    )
