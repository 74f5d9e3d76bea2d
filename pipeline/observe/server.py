"""One small port: /healthz, /readyz and /metrics."""

import json
import logging
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from pipeline.observe.health import Health, Verdict

log = logging.getLogger(__name__)

_SLOW = 10.0  # seconds a client may take to ask
_TEXT = "text/plain; charset=utf-8"


class Answer(NamedTuple):
    """What a path answers."""

    status: HTTPStatus
    content_type: str
    body: bytes


Pages = dict[str, Callable[[], Answer]]


class Server:
    """Answers in threads of its own, until closed; OSError when the port cannot be had."""

    def __init__(self, host: str, port: int, pages: Pages) -> None:
        self._server = _Server((host, port), _handler(pages))
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.2}, daemon=True
        )
        self._thread.name = "http"
        self._thread.start()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def pages_of(health: Health, metrics: Callable[[], Answer]) -> Pages:
    """Return what there is to ask for."""
    return {
        "/healthz": lambda: _told(health.alive()),
        "/readyz": lambda: _told(health.ready()),
        "/metrics": metrics,
    }


def sentence(status: HTTPStatus, text: str) -> Answer:
    """Return an answer in words."""
    return Answer(status, _TEXT, f"{text}\n".encode())


def _told(verdict: Verdict) -> Answer:
    status = HTTPStatus.OK if verdict.well else HTTPStatus.SERVICE_UNAVAILABLE
    body = {"status": "ok" if verdict.well else "failing", "reason": verdict.why}
    return Answer(status, "application/json", json.dumps(body).encode() + b"\n")


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        log.debug("a request of %s failed", client_address, exc_info=True)


def _handler(pages: Pages) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = _SLOW

        def do_GET(self) -> None:
            answer = _answer(pages, self.path.partition("?")[0])
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.content_type)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body)

        do_HEAD = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            log.debug(format, *args)

    return Handler


def _answer(pages: Pages, path: str) -> Answer:
    if path not in pages:
        return sentence(HTTPStatus.NOT_FOUND, f"not here; there are {', '.join(pages)}")
    try:
        return pages[path]()
    except Exception:
        log.warning("%s could not be answered", path, exc_info=True)
        return sentence(HTTPStatus.INTERNAL_SERVER_ERROR, "see the log of the job")
