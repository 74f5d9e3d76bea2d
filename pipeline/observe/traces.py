"""A span for each published message whose schedule was traced, with a link to the span it came of.

The message bears the context of the span that scheduled it (``traceparent``, as W3C has it). That
span ended long ago, so publishing is no part of its trace but linked to it. Whether there is a
span is decided by the flag of the context: what was not sampled then is not now.
"""

import re
from collections.abc import Sequence

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import Link, SpanContext, SpanKind, TraceFlags

from pipeline.observe.observer import Flushed, Observer, Sent
from pipeline.observe.outage import TIMEOUT, Outage

TRACEPARENT = "traceparent"

_NANOS = 1_000  # in a microsecond
_SECOND = 1_000_000
_FORM = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_NOTHING = re.compile(r"0+")

Headers = Sequence[tuple[str, str | bytes | None]]


class Exporter(OTLPSpanExporter):
    """Pushes spans, and says once when they are not taken."""

    def __init__(self, endpoint: str) -> None:
        super().__init__(endpoint=endpoint, timeout=TIMEOUT)
        self._outage = Outage("traces.otlp_endpoint", endpoint)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Push them."""
        result = super().export(spans)
        self._outage.note(result is SpanExportResult.SUCCESS)
        return result


class TraceObserver(Observer):
    """Makes the spans when a flush is out; a thread of the SDK pushes them."""

    listens = True

    def __init__(self, endpoint: str, resource: Resource) -> None:
        self._provider = TracerProvider(
            sampler=ALWAYS_ON, resource=resource, shutdown_on_exit=False
        )
        self._provider.add_span_processor(BatchSpanProcessor(Exporter(endpoint)))
        self._tracer = self._provider.get_tracer("duestream")

    def close(self) -> None:
        """Push what there is and stop."""
        self._provider.shutdown()

    def flushed(self, flush: Flushed) -> None:
        """Make a span for each message that asks for one."""
        for sent in flush.sent():
            context = sampled_context(sent.headers)
            if context is not None:
                self._span(flush, sent, context)

    def _span(self, flush: Flushed, sent: Sent, context: SpanContext) -> None:
        span = self._tracer.start_span(
            f"publish {sent.topic}",
            kind=SpanKind.PRODUCER,
            links=[Link(context)],
            start_time=flush.began_at * _NANOS,
            attributes={
                "messaging.system": "kafka",
                "messaging.operation.type": "send",
                "messaging.operation.name": "publish",
                "messaging.destination.name": sent.topic,
                "duestream.lane": flush.lane,
                "duestream.lateness": max(flush.ended_at - sent.scheduled, 0) / _SECOND,
            },
        )
        span.end(flush.ended_at * _NANOS)


def sampled_context(headers: Headers) -> SpanContext | None:
    """Return the context that a message bears, if it is one and was sampled."""
    for name, value in headers:
        if name == TRACEPARENT and value is not None:
            return _read(value if isinstance(value, str) else value.decode("ascii", "replace"))
    return None


def _read(text: str) -> SpanContext | None:
    found = _FORM.fullmatch(text)
    if found is None or found[1] == "ff" or (found[1] == "00" and found[5]):
        return None
    if _NOTHING.fullmatch(found[2]) or _NOTHING.fullmatch(found[3]):
        return None
    flags = TraceFlags(int(found[4], 16))
    if not flags.sampled:
        return None
    return SpanContext(int(found[2], 16), int(found[3], 16), is_remote=True, trace_flags=flags)
