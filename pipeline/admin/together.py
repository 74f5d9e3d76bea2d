"""Serves further applications beside the first one, each on a port of its own."""

import asyncio
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

import uvicorn
from starlette.types import ASGIApp

from pipeline.admin.server import server_config
from state.errors import SetupError

log = logging.getLogger(__name__)

_ENDS_WITHIN = 15.0  # seconds; what is still asked for by then is cut off


class Beside(NamedTuple):
    """An application that is served beside the first one; ``close`` is called when it is over."""

    what: str
    app: ASGIApp
    listening: socket.socket
    close: Callable[[], None]


class First(uvicorn.Server):
    """The server that hears the signals; it ends the others before it ends itself.

    Once it is done uvicorn sends itself the signal again, which ends the process: whatever is to
    be brought to an end must be so by then.
    """

    end_others: Callable[[], None] | None = None

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End all of them."""
        await super().shutdown(sockets)
        if self.end_others is not None:
            await asyncio.to_thread(self.end_others)


@contextmanager
def beside(apps: list[Beside]) -> Iterator[Callable[[], None]]:
    """Serve applications, each by a thread; yield what ends them, which is done here too."""
    served = [_Served(each) for each in apps]

    def end() -> None:
        for each in served:
            each.end()

    try:
        for each in served:
            each.start()
        yield end
    finally:
        end()


class _Served:
    """One application with its server and its thread."""

    def __init__(self, beside: Beside) -> None:
        self._beside = beside
        self._server = uvicorn.Server(server_config(beside.app))
        sockets = {"sockets": [beside.listening]}
        self._thread = threading.Thread(target=self._server.run, kwargs=sockets, daemon=True)
        self._ended = False

    def start(self) -> None:
        self._thread.start()
        while not self._server.started:
            self._thread.join(0.01)
            if not self._thread.is_alive():
                raise SetupError(f"{self._beside.what} cannot be served; the log says why")
        host, port = self._beside.listening.getsockname()[:2]
        log.info("serving %s on http://%s:%d/", self._beside.what, host, port)

    def end(self) -> None:
        if self._ended:
            return
        self._ended = True
        self._server.should_exit = True
        with suppress(RuntimeError):  # it was never started
            self._thread.join(_ENDS_WITHIN)
        self._beside.listening.close()
        self._beside.close()
