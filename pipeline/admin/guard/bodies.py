"""Ends requests whose body is too large, or takes too long to come."""

import asyncio
import time

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pipeline.admin.problems import answer, problem_of

PATIENCE = 30.0  # seconds in which a body has to be here
_SMALL = 65_536  # bytes that are sooner read than a connection is made anew
_LINGER = 2.0  # seconds in which a client that still sends may see that it was answered


class BodyLimit:
    """Reads no more of a body than is allowed, neither in bytes nor in time."""

    def __init__(self, app: ASGIApp, max_bytes: int, patience: float = PATIENCE) -> None:
        self._app = app
        self._max = max_bytes
        self._patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer by the application, or refuse before it reads anything."""
        body = _Body(Headers(scope=scope), receive, send, self._max, self._patience)
        if body.said > self._max:
            refused = answer(problem_of(body.too_large()))
            await refused(scope, body.receive, body.send)
            return
        await self._app(scope, body.receive, body.send)


class _Body:
    """What has come of one body; it stands between the server and the application.

    An answer that is given before a large body has come to its end closes the connection: the
    server would otherwise read on, for as long as the client likes to send.
    """

    def __init__(
        self, headers: Headers, receive: Receive, send: Send, largest: int, patience: float
    ) -> None:
        length = headers.get("content-length", "0")
        self.said = int(length) if length.isascii() and length.isdigit() else 0
        self._complete = self.said == 0 and "transfer-encoding" not in headers
        self._is_small = "transfer-encoding" not in headers and self.said <= _SMALL
        self._is_waiting = "expect" in headers  # it sends nothing before it is asked to
        self._receive, self._send = receive, send
        self._largest, self._patience = largest, patience
        self._read, self._until = 0, 0.0

    async def receive(self) -> Message:
        if self._complete:  # what follows is the end of the connection, and may take its time
            return await self._receive()
        self._until = self._until or time.monotonic() + self._patience
        message = await self._next(self._until)
        if message is None:
            self._is_small = False  # of what is still to come: the connection is given up
            raise HTTPException(408, f"the body was not here within {self._patience:.0f} s")
        self._read += len(message.get("body", b""))
        if self._read > self._largest:
            raise self.too_large()
        return message

    async def send(self, message: Message) -> None:
        if self._complete or self._is_small:
            await self._send(message)
        elif message["type"] == "http.response.start":
            MutableHeaders(scope=message)["connection"] = "close"
            await self._send(message)
        elif message.get("more_body", False):
            await self._send(message)
        else:
            await self._send({**message, "more_body": True})
            await self._linger()
            await self._send({"type": "http.response.body", "body": b""})

    async def _linger(self) -> None:
        # A connection that is closed while the client sends may take the answer with it.
        until = min(self._until or float("inf"), time.monotonic() + _LINGER)
        while not self._complete and not self._is_waiting and await self._next(until):
            pass

    async def _next(self, until: float) -> Message | None:
        try:
            message = await asyncio.wait_for(self._receive(), max(0.0, until - time.monotonic()))
        except TimeoutError:
            return None
        self._is_waiting = False
        self._complete = not message.get("more_body", False)
        return message

    def too_large(self) -> HTTPException:
        return HTTPException(413, f"a body may have {self._largest} bytes (admin.max_body_bytes)")
