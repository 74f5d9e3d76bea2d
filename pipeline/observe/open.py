"""Opens what the settings ask for; whatever cannot be had is told, and the job goes on without."""

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from http import HTTPStatus

from pipeline.config.settings import Settings
from pipeline.observe.health import Health
from pipeline.observe.observer import SILENT, Observer, Observers
from pipeline.observe.server import Answer, Server, pages_of, sentence

log = logging.getLogger(__name__)

_PACKAGES = ("opentelemetry", "prometheus_client", "google", "requests")
_MISSING = "OpenTelemetry is not installed; install duestream[metrics]"


@contextmanager
def observing(settings: Settings) -> Iterator[Observer]:
    """Return who is to be told of the job; what was opened is closed at the end."""
    metrics, traces = settings.metrics, settings.traces
    if (metrics.port, metrics.otlp_endpoint, traces.otlp_endpoint) == (None, None, None):
        yield SILENT
        return
    with ExitStack() as later:
        yield Observers(_opened(settings, later))


def _opened(settings: Settings, later: ExitStack) -> list[Observer]:
    health = Health(settings.health.tick_timeout / 1_000_000)
    page: Callable[[], Answer] = partial(sentence, HTTPStatus.NOT_IMPLEMENTED, _MISSING)
    others: list[Observer] = []
    try:
        from pipeline.observe.telemetry import telemetry

        page, others = telemetry(settings, later)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _PACKAGES:
            raise
        log.warning("there are no metrics and no traces: %s", _MISSING)
    except Exception:
        log.warning("there are no metrics and no traces", exc_info=True)
        page = partial(sentence, HTTPStatus.SERVICE_UNAVAILABLE, "see the log of the job")
    if settings.metrics.port is not None:
        _serve(settings.metrics.host, settings.metrics.port, health, page, later)
    return [health, *others]


def _serve(
    host: str, port: int, health: Health, page: Callable[[], Answer], later: ExitStack
) -> None:
    try:
        server = Server(host, port, pages_of(health, page))
    except OSError as error:
        log.warning(
            "metrics.port %d on %s cannot be opened (%s): the job runs without /metrics, /healthz "
            "and /readyz; give it a port of its own",
            *(port, host, error.strerror or error),
        )
        return
    later.callback(server.close)
    log.info("/metrics, /healthz and /readyz are on http://%s:%d", host, server.port)
