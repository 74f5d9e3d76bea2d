"""Carries a session from and to the browser: the cookie's name, and the line that sets it."""

import time

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pipeline.admin.sessions import Session, Sessions

_SESSION = "duestream_session"  # in the scope: what was found out about this request
_SET = "duestream_set_cookie"  # in the scope: the line that the answer is to carry
_DEFAULT_PORTS = ("", "80", "443")


class CookieWriter:
    """Adds the cookie that was put down for a request to its answer, whoever made the answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer by the application, and add the cookie."""

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start" and _SET in scope:
                MutableHeaders(scope=message).append("set-cookie", scope[_SET])
            await send(message)

        await self._app(scope, receive, sending)


def session_in(request: Request, sessions: Sessions) -> Session | None:
    """Return the session that the browser sent; None if there is none that holds."""
    if _SESSION not in request.scope:
        request.scope[_SESSION] = sessions.read(request.cookies.get(_name(request), ""))
    session: Session | None = request.scope[_SESSION]
    return session


def keep(request: Request, session: Session, sessions: Sessions) -> None:
    """Have the answer to this request set the session."""
    request.scope[_SESSION] = session
    _set(request, sessions.cookie(session), max(0, session.until - int(time.time())))


def forget(request: Request, sessions: Sessions) -> None:
    """End the session, here and by the answer to this request in the browser."""
    sessions.end(request.cookies.get(_name(request), ""))
    request.scope[_SESSION] = None
    _set(request, "", 0)


def _set(request: Request, value: str, age: int) -> None:
    path = request.scope.get("root_path", "") or "/"
    line = f"{_name(request)}={value}; Path={path}; Max-Age={age}; HttpOnly; SameSite=Strict"
    request.scope[_SET] = f"{line}; Secure" if _is_https(request) else line


def _name(request: Request) -> str:
    # Cookies know no ports: two servers on one machine must not take each other's.
    port = request.headers.get("host", "").rpartition("]")[2].partition(":")[2]
    name = "duestream_session" if port in _DEFAULT_PORTS else f"duestream_session_{port}"
    return f"__Secure-{name}" if _is_https(request) else name


def _is_https(request: Request) -> bool:
    return bool(request.scope.get("scheme") == "https")
