"""The first page: counts, what falls due in the next hours, how late messages were."""

from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from pipeline.admin.console import formats
from pipeline.admin.console.chart import Chart, bars
from pipeline.admin.console.job import JobSays, ask_job
from pipeline.admin.console.render import page
from pipeline.admin.console.texts import t
from pipeline.admin.console.visit import Visiting
from pipeline.admin.desk import State
from pipeline.clock import now_micros
from pipeline.config.settings import Settings
from state.clock import MINUTE
from state.inspect import Inspector, Lateness, Stats, due_counts, lateness, pending_by_topic
from state.row import Kind, Status

router = APIRouter(include_in_schema=False)

HOUR = 60 * MINUTE
SPANS = {"1h": (60, MINUTE), "3h": (180, MINUTE), "24h": (96, 15 * MINUTE)}
_SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}


@router.get("/")
def overview(visit: Visiting, state: State, span: str = "3h") -> HTMLResponse:
    """Show the state at a glance."""
    return page(visit, "overview.html", spans=list(SPANS), **_seen(state, visit.settings, span))


@router.get("/overview/live")
def live(visit: Visiting, state: State, span: str = "3h") -> HTMLResponse:
    """Answer with what the page shows by now, each value by itself."""
    return page(visit, "overview_live.html", **_seen(state, visit.settings, span))


def coming(state: Inspector, now: int, steps: int, step: int, topic: str | None = None) -> Chart:
    """Lay out what falls due from now on."""
    first = now - now % step
    counts: dict[int, tuple[int, int]] = {}
    for line in due_counts(state, now, first + steps * step, step, topic).to_pylist():
        at = int(line["time"].timestamp()) * 1_000_000
        waiting, repeats = counts.get(at, (0, 0))
        counts[at] = waiting + line["waiting"], repeats + line["repeats"]
    return bars(counts, first, steps, step)


def _seen(state: Inspector, settings: Settings, span: str) -> dict[str, Any]:
    now = now_micros()
    chosen = span if span in SPANS else "3h"
    stats, late = state.stats(now), lateness(state, now - HOUR)
    says = ask_job(settings.metrics)
    counts = _counts(stats, _held_back(state, stats))
    values = counts | _times(stats, state.moment().at, now) | _late(late) | _job(says)
    return {
        "chart": coming(state, now, *SPANS[chosen]),
        "span": chosen,
        "values": values,
        "stats": stats,
        "pauses": stats.pauses,
        "stuck": is_stuck(stats, now, settings),
        "says": says,
    }


def is_stuck(stats: Stats, now: int, settings: Settings) -> bool:
    """Tell whether something is overdue for so long that the job can hardly be running.

    A job that has nothing to do commits nothing, so the time of the last commit does not say it.
    """
    oldest = stats.oldest_overdue
    return oldest is not None and now - oldest > settings.health.tick_timeout


def _held_back(state: Inspector, stats: Stats) -> int:
    """Count what does not go out for now, also what is not due yet and goes to a paused topic."""
    paused = stats.pauses
    if not (paused.everything or paused.topics):
        return stats.paused
    lines = pending_by_topic(state).to_pylist()
    return sum(
        line["pending"] if paused.holds(Kind.MESSAGE, line["topic"]) else line["paused"] or 0
        for line in lines
    )


def _counts(stats: Stats, held: int) -> dict[str, Any]:
    ledger = stats.ledger
    found = {status.value: formats.count(ledger.ends.get(status, 0)) for status in Status}
    more = {"accepted": ledger.accepted, "rejected": ledger.rejected, "paused": held}
    return found | {name: formats.count(number) for name, number in more.items()}


def _times(stats: Stats, last: int | None, now: int) -> dict[str, Any]:
    none = t("none")
    return {
        "overdue": none if stats.oldest_overdue is None else formats.ago(stats.oldest_overdue, now),
        "next": none if stats.next_due is None else formats.ago(stats.next_due, now),
        "tick": formats.ago(last, now),
        "batch": formats.count(stats.last_batch),
    }


def _late(late: Lateness) -> dict[str, Any]:
    if late.count == 0:
        return dict.fromkeys([*_SHARES, "longest"], formats.millis(None)) | {"published": "0"}
    shares = {name: formats.millis(late.share(of)) for name, of in _SHARES.items()}
    more = {"longest": formats.millis(late.longest), "published": formats.count(late.count)}
    return shares | more


def _job(says: JobSays) -> dict[str, str | Markup]:
    return {"lag": formats.count(says.lag)}
