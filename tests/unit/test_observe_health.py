"""Whether a job is alive and ready, over HTTP and from the command line."""

import json
import logging
import socket
import sys
from collections.abc import Iterator
from http import HTTPStatus
from http.client import HTTPConnection

import pytest
from typer.testing import CliRunner

from pipeline import away
from pipeline.cli.main import app
from pipeline.config.load import load_settings
from pipeline.observe.health import Health
from pipeline.observe.observer import SILENT, Lanes, Ticked
from pipeline.observe.open import observing
from pipeline.observe.server import Server, pages_of, sentence
from pipeline.outbox.topics import Topics
from pipeline.quiet import quiet
from pipeline.source import with_timeouts
from state.errors import KafkaError

TICK = Ticked(0, 0.1, {}, 0, None)


class Job:
    """What health hears of, moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self.lanes = Lanes(0, 0, 0, None)
        self.asked = 0
        self.away: Exception | None = None
        self.health = Health(tick_timeout=60, clock=lambda: self.now)

    def begin(self) -> None:
        self.health.began(lambda: self.lanes, self.reach)

    def reach(self) -> None:
        self.asked += 1
        if self.away:
            raise self.away


@pytest.fixture
def job() -> Job:
    return Job()


@pytest.fixture
def running(job: Job) -> Job:
    job.begin()
    job.health.ticked(TICK)
    return job


def test_a_job_that_starts_is_alive_and_not_ready(job: Job) -> None:
    job.now = 59
    assert job.health.alive().well
    assert not job.health.ready().well
    assert "first micro-batch" in job.health.ready().why


def test_a_job_that_ticks_is_alive_and_ready(running: Job) -> None:
    running.now = 5
    assert running.health.alive().why == "the last micro-batch ended 5.0 s ago"
    assert running.health.ready().well


@pytest.mark.parametrize("begun", [True, False])
def test_no_tick_for_too_long_is_death(job: Job, begun: bool) -> None:
    if begun:
        job.begin()
        job.health.ticked(TICK)
    job.now = 61
    assert not job.health.alive().well
    assert "no micro-batch has ended for 61 s" in job.health.alive().why
    assert "health.tick_timeout" in job.health.ready().why
    job.health.ticked(TICK)
    assert job.health.alive().well


def test_a_lane_that_has_stopped_is_death_and_says_why(running: Job) -> None:
    running.lanes = Lanes(0, 0, 0, None, stopped=("lane 1: another job has taken over",))
    verdict = running.health.alive()
    assert (verdict.well, "lane 1: another job has taken over" in verdict.why) == (False, True)


def test_a_job_that_waits_for_kafka_is_alive_and_not_ready(running: Job) -> None:
    running.now = 50
    running.health.waits("Kafka cannot be reached")
    running.now = 100
    assert running.health.alive().why == "waiting: Kafka cannot be reached"
    assert running.health.ready().why == "Kafka cannot be reached"
    running.health.ticked(TICK)
    assert running.health.ready().well


def test_it_is_known_that_kafka_is_away_before_the_silence_is_too_long() -> None:
    answer, request = (int(ms) / 1000 for ms in with_timeouts({}).values())
    assert request <= answer, "Kafka's client refuses this"
    longest = 3 * answer + away._LONGEST  # Spark asks three times; then the job rests
    assert longest < load_settings(environ={}).health.tick_timeout / 1_000_000
    own = {"kafka.request.timeout.ms": "40000"}
    assert with_timeouts(own) == own


def test_an_outbox_that_does_not_reach_kafka_is_not_ready(running: Job) -> None:
    running.away = OSError("no broker")
    assert running.health.ready().why == "the outbox does not reach Kafka: no broker"
    assert running.health.alive().well
    running.away = None
    assert not running.health.ready().well, "it was asked a moment ago"
    running.now = 6
    assert running.health.ready().well
    assert running.asked == 2


def test_why_kafka_is_not_reached_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.outbox.topics._SOON", 0.2)
    with pytest.raises(KafkaError, match=r"^Failed to get metadata"):
        Topics(quiet({"bootstrap.servers": "127.0.0.1:1"})).reach()


def test_a_lane_that_tries_for_long_is_not_ready(running: Job) -> None:
    running.lanes = Lanes(0, 0, 0, None, trying=31.0)
    assert "trying to publish for 31 s" in running.health.ready().why


@pytest.fixture
def served(running: Job) -> Iterator[Server]:
    pages = pages_of(running.health, lambda: sentence(HTTPStatus.OK, "figures"))
    server = Server("127.0.0.1", 0, pages | {"/broken": lambda: 1 / 0})
    yield server
    server.close()


def ask(port: int, path: str) -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path)
    answer = connection.getresponse()
    said = answer.read().decode()
    connection.close()
    return answer.status, said


def test_the_port_answers_with_a_status_and_the_reason(running: Job, served: Server) -> None:
    status, said = ask(served.port, "/healthz")
    assert (status, json.loads(said)["status"]) == (200, "ok")
    assert ask(served.port, "/readyz?verbose")[0] == 200
    assert ask(served.port, "/metrics") == (200, "figures\n")
    running.now = 1_000
    for path in ("/healthz", "/readyz"):
        status, said = ask(served.port, path)
        assert (status, json.loads(said)["status"]) == (503, "failing")
        assert "no micro-batch has ended for 1000 s" in json.loads(said)["reason"]


def test_the_port_survives_what_it_does_not_know(served: Server) -> None:
    assert ask(served.port, "/") == (
        404,
        "not here; there are /healthz, /readyz, /metrics, /broken\n",
    )
    assert ask(served.port, "/broken")[0] == 500
    with socket.create_connection(("127.0.0.1", served.port)) as nonsense:
        nonsense.sendall(b"\x00\x01\r\n\r\n")
        nonsense.recv(1000)
    assert ask(served.port, "/healthz")[0] == 200


def asked(port: int, *more: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["health", "--set", f"metrics.port={port}", *more])
    return result.exit_code, result.output.strip()


def test_the_command_asks_for_containers_without_curl(running: Job, served: Server) -> None:
    assert asked(served.port) == (0, "the last micro-batch ended 0.0 s ago")
    assert asked(served.port, "--set", "metrics.host=0.0.0.0")[0] == 0
    running.away = OSError("no broker")
    assert asked(served.port)[0] == 0
    assert asked(served.port, "--ready") == (1, "the outbox does not reach Kafka: no broker")


def test_the_command_says_when_nobody_answers(served: Server) -> None:
    port = served.port
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        code, said = asked(taken.getsockname()[1])
    assert (code, "no job answers on http://127.0.0.1:" in said) == (1, True)
    code, said = asked(port, "--set", "metrics.port=null")
    assert code != 0


def test_nothing_is_opened_where_nothing_is_asked_for() -> None:
    with observing(load_settings(environ={})) as observer:
        assert observer is SILENT


def test_a_port_in_use_is_told_and_the_job_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        settings = load_settings(flags={"metrics.port": str(port)}, environ={})
        with caplog.at_level(logging.WARNING), observing(settings) as observer:
            observer.ticked(TICK)
    assert f"metrics.port {port} on 127.0.0.1 cannot be opened" in caplog.text
    assert "give it a port of its own" in caplog.text


def test_without_opentelemetry_health_is_served_and_metrics_say_what_to_install(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("telemetry", "export", "traces"):
        monkeypatch.delitem(sys.modules, f"pipeline.observe.{name}", raising=False)
    for name in [name for name in sys.modules if name.partition(".")[0] == "opentelemetry"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = load_settings(flags={"metrics.port": str(port)}, environ={})
    with observing(settings):
        assert ask(port, "/healthz")[0] == 200
        assert ask(port, "/metrics") == (
            501,
            "OpenTelemetry is not installed; install duestream[metrics]\n",
        )
    assert "install duestream[metrics]" in caplog.text
