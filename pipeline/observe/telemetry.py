"""Opens what needs OpenTelemetry: the page of metrics, pushes of metrics and of traces."""

from collections.abc import Callable
from contextlib import ExitStack

from pipeline.config.settings import Settings
from pipeline.observe.export import Prometheus, Pusher, Snapshots, resource_of
from pipeline.observe.figures import FiguresObserver
from pipeline.observe.observer import Observer
from pipeline.observe.server import Answer
from pipeline.observe.tallies import Tallies
from pipeline.observe.traces import TraceObserver


def telemetry(settings: Settings, later: ExitStack) -> tuple[Callable[[], Answer], list[Observer]]:
    """Return the page for Prometheus, and who is to be told of the job."""
    metrics, resource, tallies = settings.metrics, resource_of(settings.name), Tallies()
    snapshots = Snapshots(tallies, resource)
    observers: list[Observer] = []
    if metrics.port is not None or metrics.otlp_endpoint is not None:
        observers.append(FiguresObserver(tallies))
    if metrics.otlp_endpoint is not None:
        interval = metrics.otlp_interval / 1_000_000
        later.callback(Pusher(snapshots, metrics.otlp_endpoint, interval).close)
    if settings.traces.otlp_endpoint is not None:
        traces = TraceObserver(settings.traces.otlp_endpoint, resource)
        later.callback(traces.close)
        observers.append(traces)
    return Prometheus(snapshots).page, observers
