"""Puts the guards before an application that is served beside the first one, on its own port."""

from fastapi import FastAPI
from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from pipeline.admin.desk import Desk
from pipeline.admin.guard.bodies import BodyLimit
from pipeline.admin.guard.headers import StrictHeaders
from pipeline.admin.guard.hosts import KnownHosts
from pipeline.admin.guard.order import Requests
from pipeline.admin.guard.origins import OwnPages
from pipeline.admin.guard.rates import RateLimit


def guarded_beside(app: FastAPI, *, is_open: bool) -> ASGIApp:
    """Return the application behind its guards; there are no pages and no base path here.

    Where it ``is_open`` a token is no proof of anything, so none makes up for a foreign page.
    """
    desk: Desk = app.state.desk
    admin = desk.settings.admin
    guards: ASGIApp = RateLimit(app, desk)
    guards = OwnPages(guards, admin.asks_who and not is_open)
    guards = KnownHosts(guards, admin)
    guards = BodyLimit(guards, admin.max_body_bytes)
    guards = StrictHeaders(guards, "")
    if admin.trusted_proxies:
        guards = ProxyHeadersMiddleware(guards, list(admin.trusted_proxies))  # type: ignore[arg-type,assignment]
    return Requests(app, guards)
