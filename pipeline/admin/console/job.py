"""Asks the job itself how it is, where its port of figures is open (metrics.port)."""

import json
import re
from dataclasses import dataclass
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import urlopen

from pipeline.admin.console.texts import t
from pipeline.config.observe_blocks import MetricsSettings

_TIMEOUT = 1.0  # seconds; the pages must not wait for a job that is away
_LAG = re.compile(r"^duestream_source_lag(?:\{([^}]*)\})? (\S+)$", re.MULTILINE)
_ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104


@dataclass(frozen=True, slots=True)
class JobSays:
    """What the job says of itself; ``lag`` is None where that is not known."""

    served: bool  # whether there is anything to ask
    well: bool | None
    sentence: str
    ready: str = ""
    lag: int | None = None


def ask_job(metrics: MetricsSettings) -> JobSays:
    """Ask for health and figures; an answer that does not come is told as such."""
    if not metrics.port:
        return JobSays(False, None, t("The job's figures are not served: metrics.port is not set."))
    where = f"http://{_ANYWHERE.get(metrics.host, metrics.host)}:{metrics.port}"
    try:
        alive, health = _get(f"{where}/healthz")
        _, ready = _get(f"{where}/readyz")
        _, figures = _get(f"{where}/metrics")
    except (OSError, HTTPException):
        return JobSays(True, False, t("The job does not answer at %(where)s.", where=where))
    return JobSays(True, alive, reason_in(health), reason_in(ready), source_lag(figures))


def reason_in(answer: str) -> str:
    """Return the sentence in an answer about health."""
    try:
        return str(json.loads(answer)["reason"])
    except (ValueError, KeyError, TypeError):
        return answer.strip()


def source_lag(figures: str) -> int | None:
    """Return how many records all input topics are behind, None if the figures do not say."""
    found = [float(value) for _, value in _LAG.findall(figures)]
    return round(sum(found)) if found else None


def _get(address: str) -> tuple[bool, str]:
    try:
        with urlopen(address, timeout=_TIMEOUT) as answer:  # noqa: S310
            return True, answer.read().decode(errors="replace")
    except HTTPError as refused:
        with refused:
            return False, refused.read().decode(errors="replace")
