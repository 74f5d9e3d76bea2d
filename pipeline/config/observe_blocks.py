"""The blocks of the configuration that say what the job tells of itself, and where."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from state.clock import MINUTE, SECOND
from state.duration import Duration
from state.settings import Block


def _checked_url(text: str) -> str:
    scheme, _, rest = text.partition("://")
    if scheme not in ("http", "https") or not rest:
        raise ValueError("is no URL; give one such as http://collector:4318/v1/metrics")
    return text


Url = Annotated[str, AfterValidator(_checked_url)]


class MetricsSettings(Block):
    """Where figures of the job are to be had: asked for on a port, or pushed."""

    host: str = Field(
        "127.0.0.1", description="the address the port is opened on; 0.0.0.0: all there are"
    )
    port: int | None = Field(
        None,
        ge=0,
        le=65535,
        description="serves /metrics, /healthz and /readyz, as a rule 9464; 0: any; null: none",
    )
    otlp_endpoint: Url | None = Field(
        None, description="pushes figures there, OTLP over HTTP; null: nowhere"
    )
    otlp_interval: Duration = Field(
        30 * SECOND, ge=SECOND // 10, description="time from one push to the next"
    )


class HealthSettings(Block):
    """When the job counts as alive."""

    tick_timeout: Duration = Field(
        2 * MINUTE, ge=SECOND, description="/healthz says no when no micro-batch ended for so long"
    )


class TracesSettings(Block):
    """Spans of messages whose schedules were traced."""

    otlp_endpoint: Url | None = Field(
        None, description="pushes a span for each sampled message there, OTLP over HTTP"
    )


class LogSettings(Block):
    """What the job tells while it runs."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="the least important line that is logged"
    )
    format: Literal["text", "json"] = Field(
        "text", description="json: each line an object with time, level, logger and message"
    )
