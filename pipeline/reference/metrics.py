"""Writes the page of the metrics, from their catalogue."""

from pipeline.observe.catalogue import ATTRIBUTES, METRICS, Metric
from pipeline.reference.table import table

_OPENING = """\
# Metrics

What a job exports, by the names of OpenTelemetry and of Prometheus.
"""


def metrics_page() -> str:
    """Return the page."""
    head = ["metric", "in Prometheus", "kind", "unit", "by", "meaning"]
    attributes = [(f"`{name}`", meaning) for name, meaning in ATTRIBUTES.items()]
    return (
        f"{_OPENING}\n{table(head, [_row(metric) for metric in METRICS])}\n\n"
        f"## Attributes\n\n{table(['attribute', 'meaning'], attributes)}\n"
    )


def _row(metric: Metric) -> list[str]:
    return [
        f"`{metric.name}`",
        ", ".join(f"`{name}`" for name in metric.prometheus_names),
        metric.kind,
        metric.unit.strip("{}"),
        ", ".join(f"`{name}`" for name in metric.attributes),
        metric.description,
    ]
