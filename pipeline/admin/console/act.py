"""Asks before it acts: a page (or dialog) that wants a reason, and the form behind it."""

from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from pipeline.admin.acting import Acting
from pipeline.admin.conditions import Condition
from pipeline.admin.console.did import Did
from pipeline.admin.console.render import is_part, page
from pipeline.admin.console.texts import t
from pipeline.admin.console.visit import Visit, Visiting
from pipeline.admin.desk import AtDesk, require_operator
from pipeline.admin.pages.visiting import Actor
from pipeline.admin.problems import Problem
from pipeline.admin.sent import Sent
from pipeline.keys import key_bytes
from state.errors import ConfigError

router = APIRouter(include_in_schema=False)

Do = Literal["cancel", "reschedule", "sendnow", "pause", "resume"]


@dataclass(frozen=True, slots=True)
class About:
    """What is to be done, and to what: a key, a topic, or everything."""

    do: Do
    key: str = ""
    source: str = ""
    version: str = ""
    topic: str = ""
    everything: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """What the form says besides."""

    reason: str = ""
    when: str = ""


def about_form(
    do: Annotated[Do, Form()],
    key: Annotated[str, Form()] = "",
    source: Annotated[str, Form()] = "",
    version: Annotated[str, Form()] = "",
    topic: Annotated[str, Form()] = "",
    everything: Annotated[bool, Form()] = False,
) -> About:
    """Read it from a form."""
    return About(do, key, source, version, topic, everything)


def said_form(reason: Annotated[str, Form()] = "", when: Annotated[str, Form()] = "") -> Said:
    """Read it from a form."""
    return Said(reason.strip(), when.strip())


@router.get("/act")
def asked(
    request: Request, visit: Visiting, desk: AtDesk, about: Annotated[About, Depends()]
) -> HTMLResponse:
    """Ask whether it is meant, and why."""
    if visit.who is not None:
        require_operator(desk.settings.admin, visit.who)
    if is_part(request):
        return page(visit, "act_form.html", about=about, said=Said(), problem="", level="h2")
    return _page(visit, about, Said())


@router.post("/act")
def act(
    visit: Visiting,
    desk: AtDesk,
    who: Actor,
    about: Annotated[About, Depends(about_form)],
    said: Annotated[Said, Depends(said_form)],
) -> Response:
    """Do it, and go to where one sees what came of it."""
    try:
        sent = carry_out(Acting(desk, who), about, said)
    except ConfigError as error:
        return _page(visit, about, said, str(error), 422)
    except Problem as problem:
        return _page(visit, about, said, problem.detail, problem.status)
    return RedirectResponse(visit.base + _there(about, sent), 303)


def _page(
    visit: Visit, about: About, said: Said, problem: str = "", status: int = 200
) -> HTMLResponse:
    return page(visit, "act.html", status, about=about, said=said, problem=problem, level="h1")


def carry_out(acting: Acting, about: About, said: Said) -> Sent:
    """Send the command."""
    require_reason(said.reason)
    if not about.key:
        return _hold_many(acting, about, said.reason)
    key, source = key_bytes(about.key, "key"), about.source or None
    condition = Condition.of_version(about.version or None)
    if about.do == "reschedule":
        at, delay = moment(said.when)
        return acting.reschedule(
            key, at=at, delay=delay, source=source, reason=said.reason, condition=condition
        )
    do = {
        "cancel": acting.cancel,
        "sendnow": acting.send_now,
        "pause": acting.pause,
        "resume": acting.resume,
    }[about.do]
    return do(key, source=source, reason=said.reason, condition=condition)


def require_reason(reason: str) -> None:
    """Raise ConfigError unless there is one."""
    if not reason:
        raise ConfigError(t("reason: is empty; say why, for those who look at this later"))


def moment(text: str) -> tuple[str | None, str | None]:
    """Return an instant or a delay, as somebody typed one of them: ``+15m``, or RFC 3339."""
    if not text:
        raise ConfigError(t("when: is empty; give a span such as +15m, or an instant"))
    return (None, text[1:].strip()) if text.startswith("+") else (text, None)


def _hold_many(acting: Acting, about: About, reason: str) -> Sent:
    hold = acting.pause if about.do == "pause" else acting.resume
    if about.do not in ("pause", "resume") or not (about.topic or about.everything):
        raise Problem(422, "invalid_request", t("key: is empty; name what is meant"))
    return hold(topic=about.topic or None, everything=about.everything, reason=reason)


def _there(about: About, sent: Sent) -> str:
    did = Did.by(sent).query
    if not about.key:
        return f"/topics?{did}"
    named = {"key": about.key, "source": about.source}
    return f"/message?{urlencode({k: v for k, v in named.items() if v})}&{did}"
