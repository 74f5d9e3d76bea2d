"""Tells what ended as dead, and sends it again."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import JSONResponse

from pipeline.admin.acting import Acting
from pipeline.admin.api.answering import written
from pipeline.admin.api.answers import Written
from pipeline.admin.api.asking import BEARER, Wait, instant_of, key_of, require_text
from pipeline.admin.api.bodies import DeadWhere, Resubmission
from pipeline.admin.api.event_bodies import event_body, event_of
from pipeline.admin.api.fields import Cursor, KeyInQuery, Topic, When
from pipeline.admin.api.figures_answers import (
    DeadLetterPage,
    EditableLetter,
    ReasonCount,
    ReasonList,
    Resubmitted,
)
from pipeline.admin.api.told import reading
from pipeline.admin.api.told import writing as problems
from pipeline.admin.api.writing import TAKEN
from pipeline.admin.desk import AtDesk, Operator, State, Viewer
from pipeline.admin.editable import editable
from pipeline.admin.letters import (
    LISTED,
    again,
    by_reason,
    letter_id,
    letter_of,
    letters,
    require_mendable,
    resend,
    resubmit,
)
from pipeline.admin.listing import MOST
from pipeline.admin.problems import Problem
from pipeline.admin.sent import Sent
from pipeline.admin.shown import shown
from pipeline.dead import DeadFilter
from pipeline.keys import key_text
from state.row import KEY, SOURCE_TOPIC

router = APIRouter(
    prefix="/v1/dead-letters", tags=["dead letters"], dependencies=[BEARER, Depends(require_text)]
)

Name = Annotated[str, Path(alias="id", max_length=2_000, description="as the list has it")]
_SHOWN = 10


@router.get("", operation_id="list_dead_letters", responses=reading())
def list_dead_letters(
    desk: AtDesk,
    _who: Viewer,
    state: State,
    reason: Annotated[str | None, Query(max_length=100)] = None,
    topic: Annotated[
        Topic | None, Query(description="the output, or of a record the input")
    ] = None,
    key: KeyInQuery | None = None,
    since: When | None = None,
    cursor: Cursor | None = None,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 50,
) -> DeadLetterPage:
    """List what is dead, the newest first; a page may be short and still have a next one."""
    where = DeadWhere(reason=reason, topic=topic, key=key, since=since)
    found = letters(state, _choice(where), cursor, limit, LISTED)
    hide = desk.settings.admin.hide_payload
    rows = [_letter(row, hide, payload=False) for row in found.rows]
    return DeadLetterPage.model_validate({"dead_letters": rows, "next": found.next})


@router.get("/reasons", operation_id="count_dead_letters", responses=reading())
def count_dead_letters(_who: Viewer, state: State) -> ReasonList:
    """Count what is dead by reason, kind and topic."""
    return ReasonList(reasons=[ReasonCount.model_validate(line) for line in by_reason(state)])


@router.post(
    "/resubmit",
    operation_id="resubmit_dead_letters",
    response_model=Resubmitted,
    responses={
        200: {"description": "A dry run: how many it would be."},
        202: {"description": "Kafka has them again.", "model": Resubmitted},
        **problems(),
    },
)
def resubmit_dead_letters(
    desk: AtDesk, who: Operator, state: State, body: Resubmission
) -> Response:
    """Send again what is dead: a message as due now, a refused record exactly as it came."""
    choice = _choice(body.where)
    if choice == DeadFilter() and not body.where.all:
        raise Problem(422, "nothing_chosen", "where: is empty; name a reason, topic, key or all")
    found = again(state, choice, force=body.force)
    if not body.dry_run:
        resubmit(desk, who, found.send)
    done = Resubmitted(
        dry_run=body.dry_run,
        count=len(found.send),
        skipped=len(found.skip),
        more=found.more,
        first=[key_text(row[KEY]) for row in found.send[:_SHOWN]],
    )
    return JSONResponse(done.model_dump(), 200 if body.dry_run else 202)


@router.get("/{id}", operation_id="get_dead_letter", responses=reading(404))
def get_dead_letter(desk: AtDesk, _who: Viewer, state: State, name: Name) -> EditableLetter:
    """Show one, with the event to be mended."""
    row, hide = letter_of(state, name), desk.settings.admin.hide_payload
    event = None if hide else editable(row)
    return EditableLetter.model_validate(_letter(row, hide, payload=True) | {"event": event})


@router.post(
    "/{id}/resubmit",
    operation_id="resubmit_dead_letter",
    response_model=Written,
    responses={**TAKEN, **problems(404, 412, 415)},
    openapi_extra=event_body(required=False),
)
async def resubmit_dead_letter(
    request: Request,
    desk: AtDesk,
    who: Operator,
    state: State,
    name: Name,
    wait: Wait,
    key: Annotated[KeyInQuery | None, Query(description="for a record that had none")] = None,
    force: Annotated[bool, Query(description="although a newer version is known")] = False,
) -> Response:
    """Send one again: as it was, or with a body as the event in it says."""
    is_mended = bool(await request.body())
    if is_mended:
        require_mendable(desk)
    event = await event_of(request) if is_mended else None

    def act() -> Sent:
        row = letter_of(state, name)
        if event is None:
            return resend(desk, who, state, row, force=force)
        own = row[KEY] if key is None else key_of(key)
        return Acting(desk, who).schedule(own or b"", event, source=row[SOURCE_TOPIC])

    return await written(request, desk, act, wait)


def _choice(where: DeadWhere) -> DeadFilter:
    return DeadFilter(
        key=None if where.key is None else key_of(where.key),
        reason=where.reason,
        topic=where.topic,
        since=instant_of(where.since, "since"),
    )


def _letter(row: dict[str, Any], hide: bool, *, payload: bool) -> dict[str, Any]:
    return shown(row, hide=hide, payload=payload) | {"id": letter_id(row)}
