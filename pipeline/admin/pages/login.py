"""The way into the console and out of it: a page that takes a token, and a form that ends it."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from pipeline.admin.console.render import page
from pipeline.admin.console.visit import anybody
from pipeline.admin.desk import AtDesk
from pipeline.admin.pages.local import link, local_or_home
from pipeline.admin.pages.visiting import Visitor, begin_session, end_session, session_of
from pipeline.admin.problems import Problem

router = APIRouter(include_in_schema=False)
Next = Annotated[str, Query(alias="next")]


@router.get("/login")
def login_page(request: Request, desk: AtDesk, wanted: Next = "") -> Response:
    """Ask for a token; whoever is logged in, or need not be, is sent on."""
    there = local_or_home(request, wanted)
    if session_of(request) or not desk.settings.admin.asks_who:
        return RedirectResponse(there, 303)
    if request.headers.get("sec-fetch-site") == "cross-site":
        return page(anybody(request), "arrive.html", there=there)
    return _form(request, there)


@router.post("/login")
def login(
    request: Request,
    desk: AtDesk,
    token: Annotated[str, Form()] = "",
    wanted: Annotated[str, Form(alias="next")] = "",
) -> Response:
    """Begin a session for who bears the token."""
    there = local_or_home(request, wanted)
    try:
        who = desk.doors.let_in_by(request, token.strip())
    except Problem as problem:
        return _form(request, there, problem)
    begin_session(request, who)
    return RedirectResponse(there, 303)


@router.post("/logout")
def logout(request: Request, _who: Visitor) -> Response:
    """End the session."""
    end_session(request)
    return RedirectResponse(link(request, "/login"), 303)


def _form(request: Request, there: str, problem: Problem | None = None) -> Response:
    said = problem.detail if problem else ""
    status = problem.status if problem else 200
    shown = page(anybody(request), "login.html", status, there=there, problem=said)
    shown.headers.update(problem.headers if problem else {})
    return shown
