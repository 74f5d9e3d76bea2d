"""A small reverse proxy with TLS, as tests put one before the web process."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import trustme

_HOP = ("connection", "keep-alive", "transfer-encoding", "content-length", "date", "server")


@dataclass(frozen=True)
class Proxy:
    """Where it answers, and how a client comes to trust it."""

    url: str
    trust: ssl.SSLContext

    def visit(self, **options: Any) -> httpx.Client:
        return httpx.Client(verify=self.trust, timeout=30, **options)


@contextmanager
def proxied(to: str, strip: str = "") -> Iterator[Proxy]:
    """Pass requests on to an address, with ``strip`` taken off their paths; add who asks."""
    authority = trustme.CA()
    certificate = authority.issue_cert("localhost", "127.0.0.1")
    ours, theirs = ssl.create_default_context(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.configure_trust(ours)
    certificate.configure_cert(theirs)
    with httpx.Client(base_url=to, timeout=30) as onward:
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(onward, strip))
        server.socket = theirs.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield Proxy(f"https://localhost:{server.server_port}", ours)
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


def _handler(onward: httpx.Client, strip: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = [(n, v) for n, v in self.headers.items() if n.lower() not in _HOP]
            headers += [("X-Forwarded-For", "203.0.113.7"), ("X-Forwarded-Proto", "https")]
            path = self.path.removeprefix(strip)
            self._pass_back(onward.request(self.command, path, content=body, headers=headers))

        do_POST = do_GET

        def _pass_back(self, answer: httpx.Response) -> None:
            self.send_response(answer.status_code)
            for name, value in answer.headers.multi_items():
                if name not in _HOP:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
