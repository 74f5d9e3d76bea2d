"""A collector that takes what is pushed by OTLP over HTTP, and keeps it."""

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from opentelemetry.proto.trace.v1.trace_pb2 import Span

METRICS, TRACES = "/v1/metrics", "/v1/traces"


class Collector:
    """Where it listens, and what came by path."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.came: defaultdict[str, list[bytes]] = defaultdict(list)

    def metrics(self) -> dict[str, Metric]:
        """The metrics of the last push, by name."""
        if not self.came[METRICS]:
            return {}
        push = ExportMetricsServiceRequest.FromString(self.came[METRICS][-1])
        [resource] = push.resource_metrics
        return {m.name: m for scope in resource.scope_metrics for m in scope.metrics}

    def spans(self) -> list[Span]:
        """All spans."""
        pushes = [ExportTraceServiceRequest.FromString(body) for body in self.came[TRACES]]
        scopes = [s for push in pushes for r in push.resource_spans for s in r.scope_spans]
        return [span for scope in scopes for span in scope.spans]


@contextmanager
def collecting() -> Iterator[Collector]:
    """Listen on this machine while the block lasts."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.came[self.path].append(body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        collector = Collector(f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()
