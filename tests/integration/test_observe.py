"""A real job is looked at while messages flow: what it serves, what it pushes, how it feels."""

import json
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPConnection

import pytest
from confluent_kafka import Message, Producer
from prometheus_client.parser import text_string_to_metric_families
from pyspark.sql import SparkSession

from pipeline.job import Job
from pipeline.local_kafka import LocalKafka
from pipeline.observe.catalogue import METRICS as ALL
from pipeline.observe.open import observing
from tests.integration.collector import METRICS, TRACES, Collector, collecting
from tests.integration.running import Place, in_seconds, place, running, wait_for

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
CONTEXT = f"00-{TRACE}-{SPAN}-01"


@dataclass(frozen=True)
class Looked:
    """A job, where to look at it, and where it pushes to."""

    place: Place
    job: Job
    port: int
    collector: Collector

    def ask(self, path: str) -> tuple[int, str]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", path)
        answer = connection.getresponse()
        said = answer.read().decode()
        connection.close()
        return answer.status, said

    def series(self) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
        """All that is served on /metrics: by name and labels, the values."""
        status, text = self.ask("/metrics")
        assert status == 200, text
        found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                labels = tuple(sorted(sample.labels.items()))
                found.setdefault(sample.name, {})[labels] = sample.value
        return found

    def value(self, name: str, **labels: str) -> float | None:
        return self.series().get(name, {}).get(tuple(sorted(labels.items())))


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with collecting() as collector:
        yield collector


@pytest.fixture(scope="module")
def looked(
    spark: SparkSession,
    broker: LocalKafka,
    topics: Callable[..., str],
    collector: Collector,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Looked]:
    """One job for all tests, told everything that can be told."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    flags = {
        "metrics.port": str(port),
        "metrics.otlp_endpoint": collector.url + METRICS,
        "metrics.otlp_interval": "500ms",
        "traces.otlp_endpoint": collector.url + TRACES,
        "health.tick_timeout": "10s",
        "retry.first_delay": "100ms",
        "state.delta.fold_age": "2s",
    }
    folder = tmp_path_factory.mktemp("looked")
    somewhere = place(folder, broker.bootstrap_servers, topics, **flags)
    with observing(somewhere.settings) as observer:
        job: Job
        with running(spark, somewhere.settings, observer=observer) as job:
            yield Looked(somewhere, job, port, collector)
    # What was made but not pushed yet is pushed when the job ends.
    [span] = collector.spans()
    assert (span.links[0].trace_id.hex(), span.links[0].span_id.hex()) == (TRACE, SPAN)
    assert span.name == f"publish {somewhere.out}"


@pytest.fixture(scope="module")
def served(looked: Looked, broker: LocalKafka) -> Looked:
    """The same after messages of every fate have passed."""
    place = looked.place
    with place.client() as client:
        client.schedule("far", topic=place.out, key="far", at=in_seconds(900))
        client.schedule("no", topic=place.out, key="withdrawn", at=in_seconds(900))
        for n in range(5):
            client.schedule(str(n), topic=place.out, key=f"n{n}", at=in_seconds(2))
        traced = {"traceparent": CONTEXT}
        client.schedule("x", topic=place.out, key="traced", at=in_seconds(2), attributes=traced)
        unsampled = {"traceparent": f"00-{TRACE}-{SPAN}-00"}
        client.schedule("x", topic=place.out, key="not", at=in_seconds(2), attributes=unsampled)
        client.schedule("x", topic="missing-1", key="homeless", at=in_seconds(1), retry_max=1)
        wait_for(lambda: place.statuses_of("withdrawn") == ["pending"], "the schedule")
        client.cancel("withdrawn")
    raw = Producer({"bootstrap.servers": broker.bootstrap_servers})
    raw.produce(place.input, b"\x00not json", b"bad")
    raw.flush()
    wait_for(
        lambda: looked.value("duestream_messages_published_total", topic=place.out) == 7,
        "the messages to be published",
    )
    return looked


def test_what_comes_in_is_counted_by_topic_and_refusals_by_reason(served: Looked) -> None:
    source = served.place.input
    wait_for(
        lambda: served.value("duestream_messages_accepted_total", topic=source) == 10,
        "the accepted ones",
    )
    bad = {"topic": source, "reason": "invalid_json"}
    wait_for(
        lambda: served.value("duestream_messages_rejected_total", **bad) == 1, "the rejected one"
    )
    wait_for(lambda: served.value("duestream_source_lag", topic=source) == 0, "the lag")


def test_lateness_is_a_histogram_of_seconds(served: Looked) -> None:
    series = served.series()
    assert series["duestream_lateness_seconds_count"] == {(): 7}
    buckets = series["duestream_lateness_seconds_bucket"]
    assert buckets[(("le", "+Inf"),)] == 7
    assert buckets[(("le", "86400.0"),)] == 7
    assert 0 <= series["duestream_lateness_seconds_sum"][()] < 7 * 180


def test_refusals_by_kafka_are_counted_by_reason(served: Looked) -> None:
    for name in ("retried", "dead"):
        wait_for(
            lambda name=name: (
                served.value(f"duestream_messages_{name}_total", reason="unknown_topic") == 1
            ),
            f"the one that is {name}",
        )


def test_what_waits_and_what_was_cancelled_is_known_after_a_fold(served: Looked) -> None:
    wait_for(lambda: served.value("duestream_messages_cancelled_total") == 1, "the cancelled one")
    wait_for(lambda: served.value("duestream_messages_pending") == 1, "the one that waits")
    wait_for(lambda: served.value("duestream_messages_overdue") == 0, "nothing overdue")
    [far] = served.place.rows_of("far")
    assert served.value("duestream_overdue_age_seconds") == 0
    assert served.value("duestream_next_due_timestamp_seconds") == pytest.approx(far["due"] / 1e6)


def test_every_metric_of_the_catalogue_is_served(served: Looked) -> None:
    def missing() -> set[str]:
        there = served.series().keys()
        return {name for metric in ALL for name in metric.prometheus_names} - there

    # Nothing was retried, folded or measured before its first time came.
    wait_for(lambda: not missing(), "all metrics to be there")
    stages = served.series()["duestream_tick_stage_duration_seconds_count"]
    names = {dict(labels)["stage"] for labels in stages}
    assert names == {"read", "decide", "commit", "hand_over", "maintain"}


def test_the_same_is_pushed_by_otlp(served: Looked) -> None:
    out = served.place.out
    wait_for(lambda: "duestream.fold.duration" in served.collector.metrics(), "a push")
    metrics = served.collector.metrics()
    [published] = metrics["duestream.messages.published"].sum.data_points
    assert (published.as_double or published.as_int) == 7
    assert [(a.key, a.value.string_value) for a in published.attributes] == [("topic", out)]
    [late] = metrics["duestream.lateness"].histogram.data_points
    assert (late.count, sum(late.bucket_counts)) == (7, 7)
    assert metrics["duestream.lateness"].unit == "s"
    assert set(metrics) <= {metric.name for metric in ALL}


def test_the_context_of_a_trace_is_carried_on_as_it_came(
    served: Looked, read: Callable[[str], list[Message]]
) -> None:
    [message] = [m for m in read(served.place.out) if m.key() == b"traced"]
    assert dict(message.headers() or [])["traceparent"] == CONTEXT.encode()


def test_a_job_whose_ticks_stop_is_not_healthy_and_recovers(served: Looked) -> None:
    wait_for(lambda: served.ask("/healthz")[0] == 200, "a healthy job")
    wait_for(lambda: served.ask("/readyz")[0] == 200, "a job that is ready")
    with served.job._ticker._lock:  # a tick that hangs
        wait_for(lambda: served.ask("/healthz")[0] == 503, "the job to be found dead")
        said = json.loads(served.ask("/healthz")[1])
        assert "no micro-batch has ended for" in said["reason"]
        assert served.ask("/readyz")[0] == 503
    wait_for(lambda: served.ask("/healthz")[0] == 200, "the job to be healthy again")
