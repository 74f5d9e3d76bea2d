"""Gives one command about many keys, after a dry run."""

from fastapi import APIRouter, Depends, Response
from fastapi.responses import JSONResponse

from pipeline.admin.api.asking import BEARER, instant_of, key_of, require_text
from pipeline.admin.api.bodies import BulkOrder, Where
from pipeline.admin.api.figures_answers import BulkDone
from pipeline.admin.api.told import writing as problems
from pipeline.admin.bulk import Order, Wanted, chosen, judge, send
from pipeline.admin.desk import AtDesk, Operator, State
from pipeline.admin.problems import Problem
from pipeline.choice import Choice
from pipeline.commands import Command
from pipeline.keys import key_text

router = APIRouter(prefix="/v1", tags=["dispatch"], dependencies=[BEARER, Depends(require_text)])

_SHOWN = 10
_NO_GUESSING = (
    "where.headers: admin.hide_payload is on, and a choice by headers would tell their values; "
    "choose by topic, key_prefix, time or keys"
)
_COMMANDS = {"dispatch": Command.SEND_NOW}


def wanted_of(where: Where) -> Wanted:
    """Read which messages are meant."""
    prefix = where.key_prefix
    choice = Choice(
        topic=where.topic,
        source=where.source,
        key_prefix=None if prefix is None else key_of(prefix, "where.key_prefix"),
        due_from=instant_of(where.due_from, "where.due_from"),
        due_to=instant_of(where.due_to, "where.due_to"),
        headers={name: value.encode() for name, value in where.headers.items()},
    )
    return Wanted(choice=choice, keys=tuple(key_of(key, "where.keys") for key in where.keys))


@router.post(
    "/bulk",
    operation_id="bulk_order",
    response_model=BulkDone,
    responses={
        200: {"description": "A dry run: how many it would be about."},
        202: {"description": "Kafka has a command for each.", "model": BulkDone},
        **problems(),
    },
)
def bulk_order(desk: AtDesk, who: Operator, state: State, body: BulkOrder) -> Response:
    """Cancel, reschedule, send, pause or resume all pending messages that match.

    Each command names the version that was seen: what changes meanwhile is left alone. At most
    10,000 at once.
    """
    order = Order(
        command=_COMMANDS.get(body.action) or Command(body.action),
        at=body.deliverat,
        delay=body.delayby,
        reason=body.reason,
    )
    judge(desk, who, order)
    if body.where.headers and desk.settings.admin.hide_payload:
        raise Problem(422, "invalid_request", _NO_GUESSING)
    these = chosen(desk, state, wanted_of(body.where))
    if body.expect is not None and body.expect != len(these):
        raise Problem(
            409, "count_differs", f"expect: {body.expect}, and it would be {len(these)}; look again"
        )
    if not body.dry_run:
        send(desk, who, order, these)
    done = BulkDone(
        action=body.action,
        dry_run=body.dry_run,
        count=len(these),
        first=[key_text(each.key) for each in these[:_SHOWN]],
    )
    return JSONResponse(done.model_dump(), 200 if body.dry_run else 202)
