"""The page with the form that schedules a message, or replaces one."""

import uuid
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from pipeline.admin.acting import Acting
from pipeline.admin.conditions import Condition
from pipeline.admin.console.did import Did
from pipeline.admin.console.messages import known_topics
from pipeline.admin.console.render import page
from pipeline.admin.console.texts import t
from pipeline.admin.console.visit import Visit, Visiting
from pipeline.admin.console.wish import Wish, like
from pipeline.admin.desk import AtDesk, Desk, State, require_operator
from pipeline.admin.offered import offered
from pipeline.admin.pages.visiting import Actor
from pipeline.admin.problems import Problem
from pipeline.admin.sent import Sent
from pipeline.admin.single import message_of
from pipeline.admin.who import Principal
from pipeline.clock import now_micros
from pipeline.keys import key_bytes, key_text
from pipeline.planning.plan import NotTaken, Planned, plan
from pipeline.written import ScheduleError
from state.errors import ConfigError
from state.inspect import Inspector

router = APIRouter(include_in_schema=False)


@router.get("/schedule")
def form(
    visit: Visiting,
    desk: AtDesk,
    state: State,
    key: Annotated[str, Query(alias="like")] = "",
    source: str = "",
    version: str = "",
) -> HTMLResponse:
    """Show the form; ``like`` fills it in with what is known of a key."""
    if visit.who is not None:
        require_operator(desk.settings.admin, visit.who)
    wish = Wish(source=source)
    if key:
        wish = _filled(desk, state, key, source, version)
    return _page(visit, desk, wish)


@router.post("/schedule")
def schedule(
    visit: Visiting,
    desk: AtDesk,
    who: Actor,
    wish: Annotated[Wish, Form()],
    do: Annotated[str, Form()] = "",
) -> Response:
    """Send the message to the job, or only tell what would become of it."""
    try:
        if do == "check":
            return _page(visit, desk, wish, planned=_planned(desk, wish))
        sent = _send(desk, who, wish)
    except (ConfigError, ScheduleError) as error:
        return _page(visit, desk, wish, str(error), 422)
    except Problem as problem:
        return _page(visit, desk, wish, problem.detail, problem.status)
    named = {"key": key_text(sent.key)} | ({"source": wish.source} if wish.source else {})
    there = f"/message?{urlencode(named)}&{Did.by(sent).query}"
    return RedirectResponse(visit.base + there, 303)


def _filled(desk: Desk, state: Inspector, key: str, source: str, version: str) -> Wish:
    name, default = key_bytes(key, "like"), desk.sending.default_source
    known = message_of(state, desk.settings, name, source or None, default)
    if known.current is None:
        return Wish(key=key, source=source)
    wish = like(known.current, desk.settings.admin.hide_payload)
    pending = version if known.is_pending else ""
    return wish.model_copy(update={"version": pending, "source": source})


def _send(desk: Desk, who: Principal, wish: Wish) -> Sent:
    key = key_bytes(wish.key, "key") if wish.key else str(uuid.uuid4()).encode()
    return Acting(desk, who).schedule(
        key,
        offered(None, {}, wish.event()),
        source=wish.source or None,
        condition=Condition.of_version(wish.version or None),
    )


def _planned(desk: Desk, wish: Wish) -> Planned:
    key = key_bytes(wish.key, "key") if wish.key else b"?"
    judged = plan(offered(None, {}, wish.event()).judged, desk.settings, now_micros(), key)
    if isinstance(judged, NotTaken):
        raise Problem(422, judged.reason, judged.sentence)
    if not isinstance(judged, Planned):
        raise Problem(422, "invalid_request", t("this is a command, and no message"))
    return judged


def _page(
    visit: Visit,
    desk: Desk,
    wish: Wish,
    problem: str = "",
    status: int = 200,
    planned: Planned | None = None,
) -> HTMLResponse:
    spoken = [each.topic for each in desk.settings.sources if each.dialect == "cloudevents"]
    return page(
        visit,
        "schedule.html",
        status,
        wish=wish,
        said=wish,
        problem=problem,
        planned=planned,
        topics=known_topics(desk.settings),
        sources=spoken,
    )
