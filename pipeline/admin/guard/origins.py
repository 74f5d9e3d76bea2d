"""Refuses what a page of another site would have a visitor's browser do here."""

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from pipeline.admin.problems import Problem, answer

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


class OwnPages:
    """Lets through changes from pages of this server, or from programs, which send no origin.

    Whoever bears a token in the Authorization header is let through too, where tokens are asked
    for: a browser adds none by itself.
    """

    def __init__(self, app: ASGIApp, asks_who: bool) -> None:
        self._app = app
        self._asks_who = asks_who

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer by the application, or refuse."""
        if scope["method"] not in SAFE_METHODS and self._is_refused(Headers(scope=scope)):
            problem = Problem(
                403,
                "foreign_page",
                "a page of another site asked for this; if it was one of this server, have the "
                "proxy pass the header Host as it came",
            )
            await answer(problem)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_refused(self, headers: Headers) -> bool:
        if self._asks_who and "authorization" in headers:
            return False
        return is_foreign(headers)


def is_foreign(headers: Headers) -> bool:
    """Tell whether a request comes from a page of another origin."""
    site = headers.get("sec-fetch-site")  # a browser's own word, where it has one
    if site is not None:
        return site not in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is not None and not _is_own(origin, headers.get("host", "").lower())


def _is_own(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin.lower())
    except ValueError:
        return False
    default = _DEFAULT_PORTS.get(parts.scheme)
    if default is None:
        return False
    return parts.netloc.removesuffix(default) == host.removesuffix(default)
