"""Refuses what one client asks for too often."""

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from pipeline.admin.buckets import Buckets
from pipeline.admin.cookies import session_in
from pipeline.admin.desk import Desk
from pipeline.admin.doors import address_of, bearer_of
from pipeline.admin.problems import Problem, answer

_AT_ONCE = 5.0  # seconds' worth of requests that may come in one moment


class RateLimit:
    """Counts requests: of a token, of a session, or, where it is neither, of an address."""

    def __init__(self, app: ASGIApp, desk: Desk) -> None:
        self._app = app
        self._desk = desk
        rate = desk.settings.admin.rate_limit
        self._asked = Buckets(rate, rate * _AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer by the application, or have the client wait."""
        wait = self._asked.take(self._client(Request(scope)))
        if wait:
            await answer(Problem.too_often("requests", wait))(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _client(self, request: Request) -> str:
        # A token or cookie that is not known counts for nothing: each would be a new client.
        known = self._desk.doors.recognise(request, bearer_of(request))
        if known:
            return known
        session = session_in(request, self._desk.sessions)
        if session and self._desk.settings.admin.asks_who:
            return f"{session.who.mark} {session.who.name}"
        return address_of(request)
