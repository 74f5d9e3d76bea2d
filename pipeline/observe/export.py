"""Hands the tallies to OpenTelemetry's exporters: as text for Prometheus, or pushed by OTLP.

The instruments of OpenTelemetry's SDK take one value at a time, some 15 microseconds each; to
publish a message costs no more. So the values are tallied here, by the thousand, and made
into the SDK's own data when somebody wants them.
"""

import logging
import threading
import time
from http import HTTPStatus

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    DataT,
    Gauge,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricExportResult,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from pipeline.observe.catalogue import MetricKind
from pipeline.observe.outage import TIMEOUT, Outage
from pipeline.observe.server import Answer
from pipeline.observe.tallies import Attributes, Sizes, Tallied, Tallies

log = logging.getLogger(__name__)

_SCOPE = InstrumentationScope("duestream")
_CUMULATIVE = AggregationTemporality.CUMULATIVE


def resource_of(job: str) -> Resource:
    """Return who speaks; OTEL_RESOURCE_ATTRIBUTES may say more."""
    return Resource.create({"service.name": "duestream", "service.instance.id": job})


class Snapshots:
    """Makes the tallies into the data of the SDK."""

    def __init__(self, tallies: Tallies, resource: Resource) -> None:
        self._tallies = tallies
        self._resource = resource
        self._begun = time.time_ns()

    def take(self) -> MetricsData:
        """Return everything as it stands now."""
        now = time.time_ns()
        metrics = [self._metric(each, now) for each in self._tallies.all()]
        there = [metric for metric in metrics if metric.data.data_points]
        scope = ScopeMetrics(_SCOPE, there, "")
        return MetricsData([ResourceMetrics(self._resource, [scope], "")])

    def _metric(self, tallied: Tallied, now: int) -> Metric:
        about = tallied.metric
        return Metric(about.name, about.description, about.unit, self._data(tallied, now))

    def _data(self, tallied: Tallied, now: int) -> DataT:
        kind = tallied.metric.kind
        if kind is MetricKind.HISTOGRAM:
            sizes = tallied.sizes.items()
            return Histogram(
                [self._sized(a, s, tallied.metric.bounds, now) for a, s in sizes], _CUMULATIVE
            )
        points = [
            NumberDataPoint(dict(attributes), self._begun, now, number)
            for attributes, number in tallied.numbers.items()
        ]
        return Gauge(points) if kind is MetricKind.GAUGE else Sum(points, _CUMULATIVE, True)

    def _sized(
        self, attributes: Attributes, sizes: Sizes, bounds: tuple[float, ...], now: int
    ) -> HistogramDataPoint:
        return HistogramDataPoint(
            attributes=dict(attributes),
            start_time_unix_nano=self._begun,
            time_unix_nano=now,
            count=int(sizes.counts.sum()),
            sum=sizes.sum,
            bucket_counts=[int(count) for count in sizes.counts],
            explicit_bounds=bounds,
            min=sizes.least,
            max=sizes.most,
        )


class Prometheus:
    """Writes the text that Prometheus reads."""

    def __init__(self, snapshots: Snapshots) -> None:
        self._registry = CollectorRegistry()
        self._lock = threading.Lock()
        reader = PrometheusMetricReader(scope_info_enabled=False, registry=self._registry)
        # What a meter provider does with a reader; there is none here.
        reader._set_collect_callback(lambda *_, **__: snapshots.take())

    def page(self) -> Answer:
        """Return all metrics."""
        with self._lock:  # the reader has one queue for all who ask
            text = generate_latest(self._registry)
        return Answer(HTTPStatus.OK, CONTENT_TYPE_LATEST, text)


class Pusher:
    """Pushes the metrics now and then, and a last time when closed."""

    def __init__(self, snapshots: Snapshots, endpoint: str, interval: float) -> None:
        self._snapshots = snapshots
        self._interval = interval
        self._exporter = OTLPMetricExporter(endpoint=endpoint, timeout=TIMEOUT)
        self._outage = Outage("metrics.otlp_endpoint", endpoint)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="otlp-metrics", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Push what there is and stop."""
        self._closing.set()
        self._thread.join()
        self._exporter.shutdown()

    def _run(self) -> None:
        while not self._closing.wait(self._interval):
            self._push()
        self._push()

    def _push(self) -> None:
        try:
            result = self._exporter.export(self._snapshots.take(), TIMEOUT * 1000)
            self._outage.note(result is MetricExportResult.SUCCESS)
        except Exception:
            log.debug("metrics were not pushed", exc_info=True)
            self._outage.note(False)
