"""Finds requests below the base path, whether or not the proxy has left it before the path."""

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class BasePath:
    """Gives each path its base path, as the application expects it."""

    def __init__(self, app: ASGIApp, base_path: str) -> None:
        self._app = app
        self._base_path = base_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer by the application; its first page is at the base path with a slash."""
        base = self._base_path
        if base and scope["path"] == base:
            await RedirectResponse(f"{base}/", 307)(scope, receive, send)
            return
        if not scope["path"].startswith(f"{base}/"):
            scope["path"] = f"{base}{scope['path']}"
            scope["raw_path"] = base.encode() + (scope.get("raw_path") or b"")
        scope["root_path"] = base
        await self._app(scope, receive, send)
