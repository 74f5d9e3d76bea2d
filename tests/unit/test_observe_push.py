"""What is pushed to a collector that is away, and then is back."""

import logging
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pipeline.config.load import load_settings
from pipeline.observe.observer import Flushed, Sent, Ticked
from pipeline.observe.open import observing

TICK = Ticked(0, 0.1, {}, 0, None)
HEADERS = [("traceparent", b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")]
FLUSH = Flushed(0, 0, 1, lambda: iter([Sent("out", HEADERS, 0)]))


class Taking(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


class Heard(logging.Handler):
    """Waits for a line of the log."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []
        self._new = threading.Condition()

    def emit(self, record: logging.LogRecord) -> None:
        with self._new:
            self.lines.append(record.getMessage())
            self._new.notify_all()

    def wait_for(self, found: Callable[[list[str]], object]) -> None:
        with self._new:
            assert self._new.wait_for(lambda: found(self.lines), timeout=120), self.lines


@pytest.fixture
def heard() -> Heard:
    handler, log = Heard(), logging.getLogger("pipeline.observe.outage")
    log.addHandler(handler)
    level, log.level = log.level, logging.INFO
    yield handler
    log.removeHandler(handler)
    log.setLevel(level)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.observe.export.TIMEOUT", 0.5)
    monkeypatch.setattr("pipeline.observe.traces.TIMEOUT", 0.5)
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "200")


@pytest.mark.usefixtures("impatient")
def test_a_collector_that_is_away_is_told_once_and_once_when_it_is_back(heard: Heard) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}/v1"
    flags = {
        "metrics.otlp_endpoint": f"{url}/metrics",
        "metrics.otlp_interval": "100ms",
        "traces.otlp_endpoint": f"{url}/traces",
    }
    with observing(load_settings(flags=flags, environ={})) as observer:
        observer.ticked(TICK)
        observer.flushed(FLUSH)
        heard.wait_for(lambda lines: len(lines) >= 2)
        assert sorted(line.partition(":")[0] for line in heard.lines) == [
            "metrics.otlp_endpoint",
            "traces.otlp_endpoint",
        ]
        assert all("the job goes on" in line for line in heard.lines)
        with ThreadingHTTPServer(("127.0.0.1", port), Taking) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            heard.wait_for(lambda lines: any("takes it again" in line for line in lines))
            server.shutdown()
            thread.join()
