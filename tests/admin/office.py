"""A job with the web process beside it, as tests find them: real topics, a real state, a port."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx
import uvicorn
from starlette.types import ASGIApp

from pipeline.admin.app import application
from pipeline.admin.serve import listen, server_config
from pipeline.config.settings import Settings
from tests.integration.running import Place, wait_for

OPERATOR, VIEWER = "the-operators-token", "the-viewers-token"
TOKENS = [
    {"name": "olga", "role": "operator", "sha256": hashlib.sha256(OPERATOR.encode()).hexdigest()},
    {"name": "vera", "role": "viewer", "sha256": hashlib.sha256(VIEWER.encode()).hexdigest()},
]


@dataclass(frozen=True)
class Office:
    """Where the web process answers, and the place its job runs at."""

    url: str
    place: Place

    def ask(self, token: str | None = OPERATOR, **options: Any) -> httpx.Client:
        """Return a client that bears a token; use it as a context."""
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60, **options)

    def at(self, url: str) -> "Office":
        return replace(self, url=url)


@contextmanager
def served(settings: Settings, app: ASGIApp | None = None) -> Iterator[str]:
    """Serve the application, or another in its place, in a thread; yield its address."""
    listening = listen(settings.admin)
    server = uvicorn.Server(server_config(app or application(settings)))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    wait_for(lambda: server.started or not thread.is_alive(), "the server to start")
    host, port = listening.getsockname()[:2]
    try:
        yield f"http://{host}:{port}{settings.admin.base_path}"
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()
