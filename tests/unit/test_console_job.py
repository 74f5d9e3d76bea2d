"""What the console learns from the job's own port."""

from http import HTTPStatus

from pipeline.admin.console.job import ask_job
from pipeline.config.observe_blocks import MetricsSettings
from pipeline.observe.health import Health
from pipeline.observe.server import Answer, Server, pages_of

_FIGURES = b'# TYPE duestream_source_lag gauge\nduestream_source_lag{topic="in"} 12.0\n'


def _figures() -> Answer:
    return Answer(HTTPStatus.OK, "text/plain", _FIGURES)


def test_a_job_says_how_it_is_and_how_far_behind() -> None:
    server = Server("127.0.0.1", 0, pages_of(Health(60.0), _figures))
    try:
        says = ask_job(MetricsSettings(host="0.0.0.0", port=server.port))  # noqa: S104
    finally:
        server.close()
    assert (says.served, says.well, says.lag) == (True, True, 12)
    assert says.sentence.startswith("starting")
    assert says.ready == "the first micro-batch has not ended yet"


def test_a_job_that_is_silent_for_too_long_is_not_well() -> None:
    server = Server("127.0.0.1", 0, pages_of(Health(0.0), _figures))
    try:
        says = ask_job(MetricsSettings(port=server.port))
    finally:
        server.close()
    assert says.well is False
    assert "no micro-batch has ended" in says.sentence


def test_a_job_that_does_not_answer_is_told_as_such() -> None:
    server = Server("127.0.0.1", 0, pages_of(Health(60.0), _figures))
    server.close()
    says = ask_job(MetricsSettings(port=server.port))
    assert (says.well, says.lag) == (False, None)
    assert f"127.0.0.1:{server.port}" in says.sentence


def test_without_a_port_nothing_is_asked_and_that_is_said() -> None:
    says = ask_job(MetricsSettings())
    assert (says.served, says.well) == (False, None)
    assert "metrics.port" in says.sentence
