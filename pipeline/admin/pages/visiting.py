"""Tells who visits a page of the console, and whether a form is theirs.

A page names its visitor by a parameter ``who: Visitor``, one that acts by ``who: Actor``; a
template puts ``form_token(request)`` into each form as the hidden field ``csrf``, a script sends
it as ``X-CSRF-Token``.
"""

import hmac
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Depends, HTTPException, Request

from pipeline.admin.cookies import forget, keep, session_in
from pipeline.admin.desk import desk_of, require_operator
from pipeline.admin.guard.origins import SAFE_METHODS
from pipeline.admin.pages.local import link, path_of
from pipeline.admin.problems import Problem
from pipeline.admin.sessions import Session
from pipeline.admin.who import LOCAL, Principal

FORM_FIELD, FORM_HEADER = "csrf", "x-csrf-token"


def session_of(request: Request) -> Session | None:
    """Return the session of the browser; None if there is none that holds."""
    return session_in(request, desk_of(request).sessions)


def begin_session(request: Request, who: Principal) -> Session:
    """Begin a session; its cookie goes out with the answer."""
    sessions = desk_of(request).sessions
    session = sessions.begin(who)
    keep(request, session, sessions)
    return session


def end_session(request: Request) -> None:
    """End the session of the browser."""
    forget(request, desk_of(request).sessions)


def form_token(request: Request) -> str:
    """Return what forms on the page must send back; empty where nobody is logged in."""
    session = session_of(request)
    return session.form_token if session else ""


async def visitor_of(request: Request) -> Principal:
    """Return who visits; whoever is not logged in is sent to the login page.

    Whatever is not merely a look must carry the token of the visitor's forms.
    """
    session = session_of(request)
    if request.method not in SAFE_METHODS:
        if session is None:
            raise Problem(401, "not_authenticated", "the session has ended; log in again")
        await _require_own_form(request, session)
        return session.who
    if session is None and not desk_of(request).settings.admin.asks_who:
        session = begin_session(request, LOCAL)
    if session is None:
        raise _to_login(request)
    return session.who


async def actor_of(request: Request) -> Principal:
    """Return who acts; a Problem if they may not, or if the form is not from their page."""
    who = await visitor_of(request)
    require_operator(desk_of(request).settings.admin, who)
    return who


async def _require_own_form(request: Request, session: Session) -> None:
    given = request.headers.get(FORM_HEADER)
    if given is None:
        given = str((await request.form(max_files=0)).get(FORM_FIELD, ""))
    if not hmac.compare_digest(given.encode(), session.form_token.encode()):
        raise Problem(
            403, "foreign_form", "this form is not from a page of your session; load the page again"
        )


def _to_login(request: Request) -> Exception:
    if request.headers.get("sec-fetch-mode", "navigate") != "navigate":  # asked by a script
        return Problem(401, "not_authenticated", "the session has ended; log in again")
    query = urlencode({"next": path_of(request)})
    return HTTPException(303, "log in", {"location": f"{link(request, '/login')}?{query}"})


Visitor = Annotated[Principal, Depends(visitor_of)]
Actor = Annotated[Principal, Depends(actor_of)]
