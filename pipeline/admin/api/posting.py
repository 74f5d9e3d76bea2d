"""Schedules a message under a key of its own, once for each Idempotency-Key."""

import uuid
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from pipeline.admin.acting import SCHEDULE, Acting
from pipeline.admin.api.answering import answer_of, answered, response
from pipeline.admin.api.answers import Written
from pipeline.admin.api.asking import BEARER, Source, Wait, key_of, require_text
from pipeline.admin.api.event_bodies import Event, event_body, fingerprint_of
from pipeline.admin.api.fields import KeyInQuery
from pipeline.admin.api.told import writing as problems
from pipeline.admin.api.writing import TAKEN
from pipeline.admin.desk import AtDesk, Desk, Operator
from pipeline.admin.replays import Answer
from pipeline.admin.sent import Sent
from pipeline.admin.single import message_of
from pipeline.admin.waiting import outcome_in
from state.row import SOURCE_OFFSET, SOURCE_PARTITION, SOURCE_TOPIC

router = APIRouter(prefix="/v1", tags=["messages"], dependencies=[BEARER, Depends(require_text)])

_NAMES = uuid.UUID("8a4a7b58-52b9-5b0e-9c3f-5d0b6a1c7e21")

Once = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        description="the same again, within a day, is answered as before and schedules nothing",
    ),
]


@router.post(
    "/messages",
    operation_id="post_message",
    response_model=Written,
    responses={**TAKEN, **problems(412, 415)},
    openapi_extra=event_body(),
)
async def post_message(
    request: Request,
    desk: AtDesk,
    who: Operator,
    event: Event,
    wait: Wait,
    key: Annotated[
        KeyInQuery | None, Query(description="unless the event has partitionkey")
    ] = None,
    source: Source = None,
    once: Once = None,
) -> Response:
    """Schedule a message; without a key it gets one, by its Idempotency-Key or a new one.

    The event may be in structured or in binary mode, as the HTTP binding of CloudEvents has them.
    """
    given = event.key if event.key is not None else key
    name = key_of(given) if given is not None else _made(who.name, once)
    acting = Acting(desk, who)

    def put() -> Sent:
        return acting.schedule(name, event, source=source)

    if once is None:
        return response(await answered(request, desk, put, wait))
    fingerprint, replay = await fingerprint_of(request), desk.replays.of(who.name, once)
    async with replay.turn:
        before, was_sent = replay.answered(fingerprint), replay.sent is not None
        if before is None and not was_sent and given is None:
            before = await run_in_threadpool(_known, request, desk, name, source)
        if before is not None:
            return response(before, replayed=True)
        send = partial(replay.once, fingerprint, put)
        replay.answer = await answered(request, desk, send, wait)
        return response(replay.answer, replayed=was_sent)


def _made(who: str, once: str | None) -> bytes:
    made = uuid.uuid4() if once is None else uuid.uuid5(_NAMES, f"{who}\n{once}")
    return str(made).encode()


def _known(request: Request, desk: Desk, key: bytes, source: str | None) -> Answer | None:
    """Return the answer to a key that the state knows from before this process was started."""
    state, topic = desk.looking.inspector(), desk.sending.source(source)
    known = message_of(state, desk.settings, key, topic, None)
    if not known.versions:
        return None
    first = known.versions[-1]
    place = (first[SOURCE_TOPIC], first[SOURCE_PARTITION], first[SOURCE_OFFSET])
    sent = Sent(SCHEDULE, *place, key)
    return answer_of(request, desk, sent, outcome_in(known.rows, sent))
