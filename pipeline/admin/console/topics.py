"""Shows the output topics: what waits for each, what is overdue or paused, what comes in a week."""

from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from pipeline.admin.console.chart import Chart
from pipeline.admin.console.did import Doing
from pipeline.admin.console.overview import coming
from pipeline.admin.console.render import page
from pipeline.admin.console.visit import Visiting
from pipeline.admin.desk import State
from pipeline.admin.figures import topics as counted_topics
from pipeline.clock import now_micros
from pipeline.instants import parse_instant
from state.clock import DAY
from state.inspect import Filter, Inspector, due_counts
from state.row import LIVE, OUTPUT_TOPIC
from state.tally import COUNT

router = APIRouter(include_in_schema=False)

_DAYS = 7


@router.get("/topics")
def topics(visit: Visiting, state: State, did: Doing) -> HTMLResponse:
    """Show them all."""
    now = now_micros()
    named = {each for each in visit.settings.outputs.allow if not set(each) & set("*?[")}
    chart: Chart = coming(state, now, _DAYS, DAY)
    return page(
        visit,
        "topics.html",
        did=did,
        lines=_lines(state, now, named),
        days=[bar.at for bar in chart.bars],
        chart=chart,
        pauses=state.stats(now).pauses,
    )


def _lines(state: Inspector, now: int, named: set[str]) -> list[dict[str, Any]]:
    overdue = _overdue(state, now)
    days = _days(state, now)
    lines = {line["topic"]: line for line in counted_topics(state)}
    for name in sorted(named - lines.keys()):
        lines[name] = {"topic": name, "pending": 0, "held_back": 0, "paused": False}
        lines[name] |= {"first_due": None, "last_due": None}
    return [
        line
        | {
            "held_back": line["pending"] if line["paused"] else line["held_back"],
            "overdue": overdue.get(name, 0),
            "days": days.get(name, [0] * _DAYS),
            "first_due": _micros(line["first_due"]),
        }
        for name, line in sorted(lines.items())
    ]


def _overdue(state: Inspector, now: int) -> dict[str, int]:
    late = state.tally(Filter(statuses=LIVE, due_to=now), [OUTPUT_TOPIC])
    return {line[OUTPUT_TOPIC]: line[COUNT] for line in late.to_pylist()}


def _days(state: Inspector, now: int) -> dict[str, list[int]]:
    """Count what falls due by topic and day; what is overdue counts as today."""
    first = now - now % DAY
    found: dict[str, list[int]] = {}
    for line in due_counts(state, now, first + _DAYS * DAY, DAY).to_pylist():
        place = max(0, (int(line["time"].timestamp()) * 1_000_000 - first) // DAY)
        days = found.setdefault(line["topic"], [0] * _DAYS)
        days[place] += line["waiting"] + line["repeats"]
    return found


def _micros(text: str | None) -> int | None:
    return None if text is None else parse_instant(text, "first_due", 0)
