"""Tells what is paused, pauses and resumes."""

from fastapi import APIRouter, Depends, Request, Response

from pipeline.admin import figures
from pipeline.admin.acting import Acting
from pipeline.admin.api.answering import written
from pipeline.admin.api.answers import Written
from pipeline.admin.api.asking import BEARER, Source, Wait, key_of, require_text
from pipeline.admin.api.bodies import Hold
from pipeline.admin.api.figures_answers import Dispatch
from pipeline.admin.api.told import reading
from pipeline.admin.api.told import writing as problems
from pipeline.admin.api.writing import TAKEN
from pipeline.admin.desk import AtDesk, Desk, Operator, State, Viewer
from pipeline.admin.problems import Problem
from pipeline.admin.who import Principal

router = APIRouter(
    prefix="/v1/dispatch", tags=["dispatch"], dependencies=[BEARER, Depends(require_text)]
)


@router.get("", operation_id="get_dispatch", responses=reading())
def get_dispatch(_who: Viewer, state: State) -> Dispatch:
    """Tell whether everything or some output topics are paused, and how much that holds back."""
    return Dispatch.model_validate(figures.paused(state))


@router.post(
    "/pause",
    operation_id="pause_dispatch",
    response_model=Written,
    responses={**TAKEN, **problems(404)},
)
async def pause_dispatch(
    request: Request, desk: AtDesk, who: Operator, wait: Wait, body: Hold, source: Source = None
) -> Response:
    """Hold back what is pending under a key, all for an output topic, or everything."""
    return await _hold("pause", request, desk, who, wait, body, source)


@router.post(
    "/resume",
    operation_id="resume_dispatch",
    response_model=Written,
    responses={**TAKEN, **problems(404)},
)
async def resume_dispatch(
    request: Request, desk: AtDesk, who: Operator, wait: Wait, body: Hold, source: Source = None
) -> Response:
    """Let go what was paused; what is overdue by then goes out at once."""
    return await _hold("resume", request, desk, who, wait, body, source)


async def _hold(
    what: str,
    request: Request,
    desk: Desk,
    who: Principal,
    wait: int,
    body: Hold,
    source: str | None,
) -> Response:
    _check(body)
    acting = Acting(desk, who)
    act = acting.pause if what == "pause" else acting.resume
    key = None if body.key is None else key_of(body.key)
    everything = body.scope == "all"
    return await written(
        request,
        desk,
        lambda: act(
            key, topic=body.topic, everything=everything, source=source, reason=body.reason
        ),
        wait,
        of_key=body.scope == "key",
    )


def _check(body: Hold) -> None:
    given = {"key": body.key is not None, "topic": body.topic is not None}
    wanted = {"key": body.scope == "key", "topic": body.scope == "topic"}
    for name in given:
        if given[name] != wanted[name]:
            how = "is missing" if wanted[name] else "is given"
            raise Problem(422, "invalid_request", f"{name}: {how}, and the scope is {body.scope}")
