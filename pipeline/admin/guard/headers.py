"""Adds the headers that tell a browser what it may do with an answer, and what to keep of it."""

from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_POLICY = (
    "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; "
    "object-src 'none'; img-src 'self' data:"
)
_ALWAYS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_LINES = [(name.encode(), value.encode()) for name, value in _ALWAYS.items()]
_CACHE, _TRANSPORT = b"cache-control", b"strict-transport-security"
_OURS = frozenset([*(name for name, _ in _LINES), _CACHE, _TRANSPORT])
_HTTPS_FOR = b"max-age=31536000"
_FOUND = (200, 206, 304)


class StrictHeaders:
    """Adds them to every answer, in place of what the application says of the same."""

    def __init__(self, app: ASGIApp, base_path: str) -> None:
        self._app = app
        self._base_path = base_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer by the application, and add the headers."""

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [line for line in message["headers"] if line[0] not in _OURS]
                message["headers"] = [*kept, *_LINES, *self._lines(scope, message["status"])]
            await send(message)

        await self._app(scope, receive, sending)

    def _lines(self, scope: Scope, status: int) -> list[tuple[bytes, bytes]]:
        cache = (_CACHE, self._kept(scope, status))
        if scope["scheme"] != "https":
            return [cache]
        return [cache, (_TRANSPORT, _HTTPS_FOR)]

    def _kept(self, scope: Scope, status: int) -> bytes:
        path = scope["path"].removeprefix(self._base_path)
        if not path.startswith("/static/") or status not in _FOUND:
            return b"no-store"
        if "v" in parse_qs(scope["query_string"].decode("latin-1")):  # its name changes with it
            return b"public, max-age=31536000, immutable"
        return b"no-cache"  # asked for again, and answered by its ETag
