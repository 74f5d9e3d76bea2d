"""Schedules, replaces, cancels, moves and sends messages; each becomes a record on Kafka."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from pipeline.admin.acting import Acting
from pipeline.admin.api.answering import written
from pipeline.admin.api.answers import Written
from pipeline.admin.api.asking import BEARER, If, InPath, Source, Wait, require_text
from pipeline.admin.api.bodies import NewInstant, Remarks
from pipeline.admin.api.event_bodies import Event, event_body
from pipeline.admin.api.fields import Remark
from pipeline.admin.api.told import Responses
from pipeline.admin.api.told import writing as problems
from pipeline.admin.desk import AtDesk, Operator

router = APIRouter(prefix="/v1", tags=["messages"], dependencies=[BEARER, Depends(require_text)])

_HEADERS = {
    "Location": {"schema": {"type": "string"}, "description": "the address of the key"},
    "ETag": {"schema": {"type": "string"}, "description": "the version, for If-Match"},
    "Idempotent-Replayed": {"schema": {"type": "string"}, "description": "true: as before"},
}
TAKEN: Responses = {
    200: {
        "description": "The job has taken it; the effect says what came of it.",
        "headers": _HEADERS,
    },
    202: {
        "description": "Kafka has it; the job takes it within a tick.",
        "model": Written,
        "headers": _HEADERS,
    },
}


@router.put(
    "/messages/{key:path}",
    operation_id="put_message",
    response_model=Written,
    responses={**TAKEN, **problems(412, 415)},
    openapi_extra=event_body(),
)
async def put_message(
    request: Request,
    desk: AtDesk,
    who: Operator,
    key: InPath,
    event: Event,
    condition: If,
    wait: Wait,
    source: Source = None,
) -> Response:
    """Schedule a message, or replace the one that is pending under its key."""
    acting = Acting(desk, who)
    return await written(
        request,
        desk,
        lambda: acting.schedule(key, event, source=source, condition=condition),
        wait,
    )


@router.delete(
    "/messages/{key:path}",
    operation_id="cancel_message",
    response_model=Written,
    responses={**TAKEN, **problems(404, 412)},
)
async def cancel_message(
    request: Request,
    desk: AtDesk,
    who: Operator,
    key: InPath,
    condition: If,
    wait: Wait,
    source: Source = None,
    reason: Annotated[Remark | None, Query(description="why; it is remembered")] = None,
) -> Response:
    """Withdraw what is pending under a key, of a series all that is to come."""
    acting = Acting(desk, who)
    return await written(
        request,
        desk,
        lambda: acting.cancel(key, source=source, reason=reason, condition=condition),
        wait,
    )


@router.post(
    "/messages/{key:path}/dispatch",
    operation_id="dispatch_message",
    response_model=Written,
    responses={**TAKEN, **problems(404, 412)},
)
async def dispatch_message(
    request: Request,
    desk: AtDesk,
    who: Operator,
    key: InPath,
    condition: If,
    wait: Wait,
    source: Source = None,
    body: Remarks | None = None,
) -> Response:
    """Publish what is pending under a key at once; a series goes on as before."""
    acting, why = Acting(desk, who), None if body is None else body.reason
    return await written(
        request,
        desk,
        lambda: acting.send_now(key, source=source, reason=why, condition=condition),
        wait,
    )


@router.post(
    "/messages/{key:path}/reschedule",
    operation_id="reschedule_message",
    response_model=Written,
    responses={**TAKEN, **problems(404, 412)},
)
async def reschedule_message(
    request: Request,
    desk: AtDesk,
    who: Operator,
    key: InPath,
    condition: If,
    wait: Wait,
    body: NewInstant,
    source: Source = None,
) -> Response:
    """Give what is pending under a key another instant; of a series only the next one moves."""
    acting = Acting(desk, who)
    return await written(
        request,
        desk,
        lambda: acting.reschedule(
            key,
            at=body.deliverat,
            delay=body.delayby,
            source=source,
            reason=body.reason,
            condition=condition,
        ),
        wait,
    )
