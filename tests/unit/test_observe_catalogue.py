"""The catalogue of metrics: names and units as OpenTelemetry has them."""

import re

from pipeline.observe.catalogue import ATTRIBUTES, METRICS, MetricKind


def test_names_are_in_the_style_of_opentelemetry_and_unique() -> None:
    names = [metric.name for metric in METRICS]
    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"duestream(\.[a-z_]+)+", name)] == []


def test_every_metric_and_attribute_is_described() -> None:
    assert [metric.name for metric in METRICS if not metric.description] == []
    assert {name for metric in METRICS for name in metric.attributes} == set(ATTRIBUTES)


def test_a_unit_is_seconds_or_a_word() -> None:
    units = {metric.unit for metric in METRICS}
    assert [unit for unit in units if not re.fullmatch(r"s|\{[a-z]+\}", unit)] == []


def test_histograms_have_bounds_that_grow_and_nothing_else_has_any() -> None:
    for metric in METRICS:
        assert bool(metric.bounds) == (metric.kind is MetricKind.HISTOGRAM), metric.name
        assert list(metric.bounds) == sorted(set(metric.bounds)), metric.name


def test_prometheus_sees_units_and_kinds_in_the_names() -> None:
    named = {metric.name: metric.prometheus_names for metric in METRICS}
    assert named["duestream.messages.published"] == ("duestream_messages_published_total",)
    assert named["duestream.overdue.age"] == ("duestream_overdue_age_seconds",)
    assert "duestream_lateness_seconds_bucket" in named["duestream.lateness"]
