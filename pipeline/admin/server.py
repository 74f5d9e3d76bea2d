"""How every server of the web process treats connections."""

import uvicorn
from starlette.types import ASGIApp


def server_config(app: ASGIApp) -> uvicorn.Config:
    """Return how the server treats connections; what proxies say is for the application."""
    return uvicorn.Config(
        app,
        http="h11",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=10,
    )
