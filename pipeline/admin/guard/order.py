"""Puts the guards before the application, in the order that a request meets them."""

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from pipeline.admin.cookies import CookieWriter
from pipeline.admin.desk import Desk
from pipeline.admin.guard.base_path import BasePath
from pipeline.admin.guard.bodies import BodyLimit
from pipeline.admin.guard.headers import StrictHeaders
from pipeline.admin.guard.hosts import KnownHosts
from pipeline.admin.guard.origins import OwnPages
from pipeline.admin.guard.rates import RateLimit


class Requests:
    """Sends requests through the guards; what else a server says goes to the application."""

    def __init__(self, app: ASGIApp, guards: ASGIApp) -> None:
        self._app = app
        self._guards = guards

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        chosen = self._guards if scope["type"] == "http" else self._app
        await chosen(scope, receive, send)


def guarded(app: FastAPI) -> ASGIApp:
    """Return the application behind its guards; read it from below."""
    desk: Desk = app.state.desk
    admin = desk.settings.admin
    guards: ASGIApp = CookieWriter(app)
    guards = RateLimit(guards, desk)
    guards = OwnPages(guards, admin.asks_who)
    guards = BasePath(guards, admin.base_path)
    guards = KnownHosts(guards, admin)
    guards = BodyLimit(guards, admin.max_body_bytes)
    guards = StrictHeaders(guards, admin.base_path)
    if admin.trusted_proxies:
        guards = ProxyHeadersMiddleware(guards, list(admin.trusted_proxies))  # type: ignore[arg-type,assignment]
    return Requests(app, guards)
