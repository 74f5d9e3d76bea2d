"""Refuses requests for a name that is not this server's.

A web page can have its own name point to 127.0.0.1 and would then be read by the browser as one
with this server; what it cannot do is send another name than its own.
"""

import re

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from pipeline.admin.problems import Problem, answer
from pipeline.config.admin_block import AdminSettings
from pipeline.config.loopback import is_loopback

_SHAPE = re.compile(r"([\w.-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?", re.ASCII)
_OWN = frozenset({"localhost", "127.0.0.1", "::1"})


class KnownHosts:
    """Lets through what is asked of one of the names; of anything like a name, if none are set."""

    def __init__(self, app: ASGIApp, settings: AdminSettings) -> None:
        self._app = app
        self._names = names_of(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer by the application, or refuse."""
        if not self._is_known(Headers(scope=scope).get("host", "")):
            problem = Problem(
                421,
                "unknown_host",
                "this server does not answer under the name it was asked by; add it to admin.hosts",
            )
            await answer(problem)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_known(self, host: str) -> bool:
        if not _SHAPE.fullmatch(host):
            return False
        return not self._names or host_name(host) in self._names


def names_of(settings: AdminSettings) -> frozenset[str]:
    """Return the names that are answered to; none: any name is."""
    if settings.hosts:
        return frozenset(host_name(each) for each in settings.hosts)
    return _OWN | {host_name(settings.host)} if is_loopback(settings.host) else frozenset()


def host_name(host: str) -> str:
    """Return a host without its port and brackets, as it is compared."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host if host.count(":") > 1 else host.partition(":")[0].rstrip(".")
